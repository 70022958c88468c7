// Where we are, who we are, and the figures that keep coming.
import type { Session } from './api'

export interface Overview {
  node: string
  product_version: string
  object_totals: Record<string, number>
  queue_totals: Record<string, number>
  listeners: { protocol: string; ip_address: string; port: number }[]
  twinlog: {
    alarms: { resource: string; reason: string }[]
    groups: number
    kafka_connections: number
    partitions: number
    topics: number
    uptime_ms: number
    stall_us: number
    rates: Record<string, number>
    totals: Record<string, number>
    cluster_id: string
    node_id: number
    users: number
  }
}

function read(): string[] {
  return location.hash.replace(/^#\/?/, '').split('/').map((each) => {
    try { return decodeURIComponent(each) } catch { return each }
  })
}

class State {
  session = $state<Session | null>(null)
  ready = $state(false)
  path = $state(read())
  overview = $state<Overview | null>(null)
  live = $state(false)
  said = $state<{ text: string; bad: boolean; number: number }[]>([])
  private number = 0

  constructor() {
    addEventListener('hashchange', () => {
      this.path = read()
      document.getElementById('content')?.focus()
    })
  }

  get isAdmin() { return this.session?.tags.includes('administrator') ?? false }

  say(text: string, bad = false) {
    const number = ++this.number
    this.said.push({ text, bad, number })
    setTimeout(() => { this.said = this.said.filter((each) => each.number !== number) }, bad ? 9000 : 4000)
  }

  /** Does it, and says how it went. */
  async attempt(work: () => Promise<unknown>, done = ''): Promise<boolean> {
    try {
      await work()
      if (done) this.say(done)
      return true
    } catch (fault) {
      this.say(fault instanceof Error ? fault.message : String(fault), true)
      return false
    }
  }
}

export const state_ = new State()

export const link = (...parts: string[]) => '#/' + parts.map(encodeURIComponent).join('/')
export const go = (...parts: string[]) => { location.hash = link(...parts) }

let source: EventSource | null = null

export function listen() {
  source?.close()
  source = new EventSource('/api/events?every_ms=2000')
  source.addEventListener('overview', (event) => {
    state_.overview = JSON.parse((event as MessageEvent<string>).data) as Overview
    state_.live = true
  })
  source.onerror = () => { state_.live = false }
}

export function silence() {
  source?.close()
  source = null
}
