// Something from the broker that is fetched again and again while a page shows it.
import { untrack } from 'svelte'

export class Polled<T> {
  value = $state.raw<T | null>(null)
  fault = $state('')
  private running = false

  constructor(private readonly fetch: () => Promise<T>, everyMs = 5000) {
    $effect(() => {
      untrack(() => void this.again())
      const timer = setInterval(() => { if (!document.hidden) void this.again() }, everyMs)
      return () => clearInterval(timer)
    })
  }

  async again() {
    if (this.running) return
    this.running = true
    try {
      this.value = await this.fetch()
      this.fault = ''
    } catch (fault) {
      this.fault = fault instanceof Error ? fault.message : String(fault)
    } finally {
      this.running = false
    }
  }
}
