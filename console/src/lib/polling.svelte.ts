// Something from the broker that is fetched again and again while a page shows it.
import { untrack } from 'svelte'

/** Columns of samples, as the broker keeps them. */
export interface Past { at_ms: number[]; values: Record<string, (number | null)[]> }

/** What totals grew by, per second, over the last few samples. */
export function slope(past: Past | null, name: string, factor = 1): (number | null)[] {
  const times = past?.at_ms ?? []
  const values = past?.values[name] ?? times.map(() => null)
  return values.map((value, at) => {
    const from = Math.max(0, at - 2)
    const before = values[from]
    if (value == null || before == null || from === at) return null
    return Math.max(0, ((value - before) * factor * 1000) / (times[at]! - times[from]!))
  })
}

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
