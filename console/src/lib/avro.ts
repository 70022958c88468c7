// Avro's binary form read by a schema that somebody gives: for looking at records, nothing else. Whatever the bytes are, it
// ends: sizes are checked against what is left, depth and items are limited.

export type Schema = string | Schema[] | {
  type: Schema; name?: string; namespace?: string; fields?: { name: string; type: Schema }[]; symbols?: string[]
  items?: Schema; values?: Schema; size?: number; logicalType?: string; scale?: number
}
type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value }

const DEPTH_MAX = 64
const ITEMS_MAX = 10_000
const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']

class Bytes {
  private readonly view: DataView
  private items = 0
  at = 0
  constructor(readonly data: Uint8Array) { this.view = new DataView(data.buffer, data.byteOffset, data.byteLength) }
  get left() { return this.data.length - this.at }
  count() { if (++this.items > ITEMS_MAX) throw new Error(`more than ${ITEMS_MAX} items`) }
  take(size: number): Uint8Array {
    if (size < 0 || size > this.left) throw new Error(`the bytes end too early, at ${this.at}`)
    this.at += size
    return this.data.subarray(this.at - size, this.at)
  }
  long(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.take(1)[0]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n))
    }
    throw new Error(`a number does not end, at ${this.at}`)
  }
  size(): number { return Number(this.long()) }
  float() { const at = this.at; this.take(4); return this.view.getFloat32(at, true) }
  double() { const at = this.at; this.take(8); return this.view.getFloat64(at, true) }
  text() { return new TextDecoder('utf-8', { fatal: true }).decode(this.take(this.size())) }
}

const hex = (data: Uint8Array) => [...data].map((each) => each.toString(16).padStart(2, '0')).join('')
const small = (value: bigint) => (value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value)

function decimal(data: Uint8Array, scale: number): string {
  const whole = data.length ? BigInt.asIntN(data.length * 8, BigInt(`0x${hex(data)}`)) : 0n
  if (!scale) return whole.toString()
  const digits = (whole < 0n ? -whole : whole).toString().padStart(scale + 1, '0')
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function moment(value: bigint, unit: bigint): Value {
  const ms = Number((value * 1000n) / unit)
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : small(value)
}

class Reader {
  private readonly known = new Map<string, Schema>()
  constructor(schema: Schema) { this.learn(schema, '', 0) }

  /** Every named type under its name, so that others may refer to it. */
  private learn(schema: Schema, space: string, depth: number) {
    if (depth > DEPTH_MAX) throw new Error('the schema is nested too deeply')
    if (Array.isArray(schema)) { for (const each of schema) this.learn(each, space, depth + 1); return }
    if (schema === null || typeof schema !== 'object') return
    const inner = schema.namespace ?? space
    if (schema.name) {
      this.known.set(schema.name, schema)
      if (inner) this.known.set(`${inner}.${schema.name}`, schema)
    }
    for (const field of schema.fields ?? []) this.learn(field.type, inner, depth + 1)
    for (const each of [schema.items, schema.values, typeof schema.type === 'object' ? schema.type : undefined]) {
      if (each !== undefined) this.learn(each, inner, depth + 1)
    }
  }

  read(schema: Schema, from: Bytes, depth = 0): Value {
    if (depth > DEPTH_MAX) throw new Error('it is nested too deeply')
    from.count()
    if (Array.isArray(schema)) {
      const place = from.size(), chosen = schema[place]
      if (chosen === undefined) throw new Error(`a union of ${schema.length} has no branch ${place}`)
      return this.read(chosen, from, depth + 1)
    }
    if (typeof schema === 'string') {
      if (PRIMITIVES.includes(schema)) return this.primitive(schema, from, undefined, 0)
      const named = this.known.get(schema)
      if (named === undefined) throw new Error(`the schema does not say what ${schema} is`)
      return this.read(named, from, depth + 1)
    }
    if (schema === null || typeof schema !== 'object') throw new Error('that is no Avro schema')
    const type = schema.type
    if (typeof type !== 'string') return this.read(type, from, depth + 1)
    switch (type) {
      case 'record': case 'error': {
        const found: { [name: string]: Value } = {}
        for (const field of schema.fields ?? []) found[field.name] = this.read(field.type, from, depth + 1)
        return found
      }
      case 'enum': {
        const place = from.size()
        return schema.symbols?.[place] ?? `no symbol ${place}`
      }
      case 'fixed': {
        const data = from.take(schema.size ?? 0)
        return schema.logicalType === 'decimal' ? decimal(data, schema.scale ?? 0) : hex(data)
      }
      case 'array': return this.blocks(from, () => this.read(schema.items!, from, depth + 1))
      case 'map': {
        const pairs = this.blocks(from, () => [from.text(), this.read(schema.values!, from, depth + 1)])
        return Object.fromEntries(pairs as [string, Value][])
      }
      default:
        if (!PRIMITIVES.includes(type)) return this.read(type, from, depth + 1)
        return this.primitive(type, from, schema.logicalType, schema.scale ?? 0)
    }
  }

  private primitive(type: string, from: Bytes, logical: string | undefined, scale: number): Value {
    switch (type) {
      case 'null': return null
      case 'boolean': return from.take(1)[0] !== 0
      case 'float': return from.float()
      case 'double': return from.double()
      case 'string': return from.text()
      case 'bytes': {
        const data = from.take(from.size())
        return logical === 'decimal' ? decimal(data, scale) : hex(data)
      }
      default: {
        const value = from.long()
        if (logical === 'date') return (moment(value * 86_400_000n, 1000n) as string).slice(0, 10)
        if (logical?.endsWith('timestamp-millis')) return moment(value, 1000n)
        if (logical?.endsWith('timestamp-micros')) return moment(value, 1_000_000n)
        return small(value)
      }
    }
  }

  private blocks(from: Bytes, item: () => Value): Value[] {
    const found: Value[] = []
    for (let count = from.size(); count !== 0; count = from.size()) {
      if (count < 0) { count = -count; from.size() }
      for (let each = 0; each < count; each += 1) { from.count(); found.push(item()) }
    }
    return found
  }
}

export interface Framed { id: number | null; schema: Schema | null; body: Uint8Array }

/** What stands in front of the data: a registry's schema id, a whole Avro file with its own schema, or nothing. */
export function unframed(data: Uint8Array): Framed {
  if (data.length > 4 && data[0] === 0x4f && data[1] === 0x62 && data[2] === 0x6a && data[3] === 1) {
    const from = new Bytes(data.subarray(4))
    const head = new Reader('bytes').read({ type: 'map', values: 'bytes' }, from) as { [name: string]: string }
    const text = (name: string) => new TextDecoder().decode(Uint8Array.from(head[name]?.match(/../g) ?? [], (pair) => parseInt(pair, 16)))
    const codec = text('avro.codec')
    if (codec && codec !== 'null') throw new Error(`an Avro file with the codec ${codec}, which is not read here`)
    from.take(16)
    from.size()
    from.size()
    return { id: null, schema: JSON.parse(text('avro.schema')) as Schema, body: data.subarray(4 + from.at) }
  }
  if (data.length > 5 && data[0] === 0) return { id: new DataView(data.buffer, data.byteOffset).getUint32(1), schema: null, body: data.subarray(5) }
  return { id: null, schema: null, body: data }
}

/** As indented JSON; throws a sentence when the bytes do not fit the schema. */
export function avroText(schema: Schema, body: Uint8Array, wholly = true): string {
  const from = new Bytes(body)
  const value = new Reader(schema).read(schema, from)
  if (wholly && from.left) throw new Error(`${from.left} bytes are left over: another schema wrote this`)
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each), 2)
}
