// What a record's or a message's bytes are shown as: by what they look like, or as somebody chose.
import { avroText, unframed, type Schema } from './avro'
import { visibleLines } from './format'

export type Data = { text?: string; base64?: string } | null
export type Form = 'auto' | 'text' | 'json' | 'avro' | 'bytes'
export interface Shown { form: string; text: string; note: string }

const HEX_MAX = 4096

/** The choice for one topic or queue, kept as long as the browser's tab. */
export class Look {
  form = $state<Form>('auto')
  schemaText = $state('')
  schema = $derived.by(() => {
    if (!this.schemaText.trim()) return { value: null as Schema | null, fault: '' }
    try { return { value: JSON.parse(this.schemaText) as Schema, fault: '' } } catch (wrong) {
      return { value: null as Schema | null, fault: `The schema is not JSON: ${wrong instanceof Error ? wrong.message : ''}` }
    }
  })

  constructor(private readonly name: string) {
    try {
      const kept = JSON.parse(sessionStorage.getItem(`look ${name}`) ?? '{}') as { form?: Form; schema?: string }
      this.form = kept.form ?? 'auto'
      this.schemaText = kept.schema ?? ''
    } catch { /* somebody else's */ }
  }

  keep() {
    try { sessionStorage.setItem(`look ${this.name}`, JSON.stringify({ form: this.form, schema: this.schemaText })) } catch { /* no room */ }
  }
}

export function bytesOf(data: Exclude<Data, null>): Uint8Array {
  if (data.text !== undefined) return new TextEncoder().encode(data.text)
  return Uint8Array.from(atob(data.base64 ?? ''), (sign) => sign.charCodeAt(0))
}

function hexLines(data: Uint8Array): string {
  const lines = []
  for (let line = 0; line < Math.min(data.length, HEX_MAX); line += 16) {
    const piece = [...data.subarray(line, line + 16)]
    const digits = piece.map((each) => each.toString(16).padStart(2, '0')).join(' ')
    const signs = piece.map((each) => (each > 0x1f && each < 0x7f ? String.fromCharCode(each) : '.')).join('')
    lines.push(`${line.toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${signs}`)
  }
  if (data.length > HEX_MAX) lines.push('…')
  return lines.join('\n')
}

/** ``cut``: there are more bytes than these. */
export function shown(data: Uint8Array, look: Look, cut: boolean): Shown {
  const note = cut ? `only the first ${data.length} bytes` : ''
  const framed = look.form === 'avro' || (look.form === 'auto' && data[0] === 0)
  if (framed || (look.form === 'auto' && data[0] === 0x4f && data[1] === 0x62 && data[2] === 0x6a && data[3] === 1)) {
    try {
      const { id, schema, body } = unframed(data)
      const reads = schema ?? look.schema.value
      if (reads !== null) {
        const from = schema ? 'by the schema in it' : id === null ? 'by your schema' : `schema ${id} of a registry, by your schema`
        return { form: 'avro', text: visibleLines(avroText(reads, body, !cut && !schema)), note: [from, note].filter(Boolean).join(', ') }
      }
      const told = id === null ? 'Give its Avro schema above.' : `It names schema ${id} of a registry, which the broker does not have: give that schema above.`
      if (look.form === 'avro' || id !== null) return { form: 'bytes', text: hexLines(data), note: look.form === 'avro' ? told : `perhaps Avro with schema ${id} of a registry: choose Avro above to read it` }
    } catch (wrong) {
      return { form: 'bytes', text: hexLines(data), note: `not read as Avro: ${wrong instanceof Error ? wrong.message : wrong}` }
    }
  }
  if (look.form === 'bytes') return { form: 'bytes', text: hexLines(data), note }
  let text: string
  try { text = new TextDecoder('utf-8', { fatal: look.form === 'auto' }).decode(data, { stream: cut }) } catch { return { form: 'bytes', text: hexLines(data), note } }
  if (look.form === 'json' || (look.form === 'auto' && /^\s*[[{"]/.test(text) && !cut)) {
    try { return { form: 'json', text: visibleLines(JSON.stringify(JSON.parse(text), null, 2)), note } } catch (wrong) {
      if (look.form === 'json') return { form: 'text', text: visibleLines(text), note: `not read as JSON: ${wrong instanceof Error ? wrong.message : wrong}` }
    }
  }
  return { form: 'text', text: visibleLines(text), note }
}
