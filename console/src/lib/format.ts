const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const count = (value: number | null | undefined) => (value == null ? '–' : whole.format(Math.round(value)))
export const brief = (value: number | null | undefined) =>
  value == null ? '–' : Math.abs(value) < 10000 ? whole.format(Math.round(value * 10) / 10) : short.format(value)
export const perSecond = (value: number | null | undefined) => (value == null ? '–' : `${brief(value)}/s`)

export function bytes(value: number | null | undefined): string {
  if (value == null) return '–'
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = value, unit = 0
  while (Math.abs(size) >= 1024 && unit < units.length - 1) { size /= 1024; unit += 1 }
  return `${size >= 100 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}

export function span(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`
}

export const moment = (ms: number) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '')

/** Control characters and signs that turn text around are shown as what they are, so no name can pose as another. */
export const visible = (text: string) =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (sign) =>
    `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The same for messages, whose line breaks are their own. */
export const visibleLines = (text: string) => text.split('\n').map((line) => visible(line.replace(/\t/g, '    '))).join('\n')
