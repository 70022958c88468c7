// Requests to the broker. Names from strangers go into paths only through `part`, and into pages only as text.

export class ApiError extends Error {
  constructor(readonly status: number, readonly error: string, reason: string) {
    super(reason)
  }
}

export interface Session { name: string; tags: string[]; token: string | null }
export interface Page<T> { items: T[]; filtered_count: number; total_count: number }

let token = ''
let onLost = () => {}

export function whenSessionEnds(act: () => void) {
  onLost = act
}

export const part = (name: string) => encodeURIComponent(name)

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = {}
  if (method !== 'GET') headers['X-CSRF-Token'] = token
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  let answer: Response
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  } catch {
    throw new ApiError(0, 'unreachable', 'The broker does not answer.')
  }
  if (answer.ok) {
    const text = await answer.text()
    return (text ? JSON.parse(text) : undefined) as T
  }
  let error = 'error', reason = `${answer.status} ${answer.statusText}`
  try {
    const told = await answer.json()
    error = String(told.error)
    reason = String(told.reason)
  } catch { /* not ours */ }
  if (answer.status === 401 && reason === 'Login failed' && path !== '/api/session') onLost()
  throw new ApiError(answer.status, error, reason)
}

export const get = <T>(path: string) => call<T>('GET', path)
export const put = (path: string, body: unknown = {}) => call<unknown>('PUT', path, body)
export const post = <T>(path: string, body: unknown = {}) => call<T>('POST', path, body)
export const del = (path: string) => call<unknown>('DELETE', path)

export async function login(name: string, password: string): Promise<Session> {
  const session = await post<Session>('/api/session', { name, password })
  token = session.token ?? ''
  return session
}

export async function resume(): Promise<Session | null> {
  try {
    const session = await get<Session>('/api/session')
    token = session.token ?? ''
    return session
  } catch {
    return null
  }
}

export const logout = () => del('/api/session')
