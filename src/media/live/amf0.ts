// Reads and writes AMF 0 values (Action Message Format, the bodies of RTMP commands), within bounds.

import { ProtocolError } from './protocol-error.ts'

export type AmfValue = number | boolean | string | null | undefined | AmfValue[] | AmfObject
export interface AmfObject {
  [name: string]: AmfValue
}

const MAX_DEPTH = 16
const MAX_VALUES = 1000

const NUMBER = 0x00
const BOOLEAN = 0x01
const STRING = 0x02
const OBJECT = 0x03
const NULL = 0x05
const UNDEFINED = 0x06
const ECMA_ARRAY = 0x08
const OBJECT_END = 0x09
const STRICT_ARRAY = 0x0a
const DATE = 0x0b
const LONG_STRING = 0x0c
const UNSUPPORTED = 0x0d
const XML = 0x0f
const TYPED_OBJECT = 0x10

/**
 * All values of a message. Throws ProtocolError if the bytes are cut short, nest deeper than 16 or hold more than 1000 values. References
 * and AMF 3 values are refused: no encoder sends them.
 */
export function readAmf(bytes: Buffer): AmfValue[] {
  let at = 0
  let count = 0
  const values: AmfValue[] = []
  while (at < bytes.length) values.push(readValue(0))
  return values

  function take(length: number): number {
    const start = at
    if (length > bytes.length - at) throw new ProtocolError('An AMF value is cut short.')
    at += length
    return start
  }

  function readText(length: number): string {
    const start = take(length)
    return bytes.toString('utf8', start, at)
  }

  function readName(): string {
    return readText(bytes.readUInt16BE(take(2)))
  }

  function readValue(depth: number): AmfValue {
    count += 1
    if (count > MAX_VALUES || depth > MAX_DEPTH) throw new ProtocolError('An AMF message holds too many values.')
    const marker = bytes.readUInt8(take(1))
    switch (marker) {
      case NUMBER:
        return bytes.readDoubleBE(take(8))
      case BOOLEAN:
        return bytes.readUInt8(take(1)) !== 0
      case STRING:
        return readName()
      case LONG_STRING:
      case XML:
        return readText(bytes.readUInt32BE(take(4)))
      case OBJECT:
        return readObject(depth)
      case TYPED_OBJECT:
        readName()
        return readObject(depth)
      case ECMA_ARRAY:
        // Its count is only a hint.
        take(4)
        return readObject(depth)
      case STRICT_ARRAY:
        return readArray(depth)
      case DATE:
        // With a time zone that is always 0.
        return bytes.readDoubleBE(take(10))
      case NULL:
        return null
      case UNDEFINED:
      case UNSUPPORTED:
        return undefined
      default:
        throw new ProtocolError(`An AMF value has the unknown type ${marker}.`)
    }
  }

  function readObject(depth: number): AmfObject {
    const object: AmfObject = Object.create(null)
    for (;;) {
      const name = readName()
      if (name === '' && bytes[at] === OBJECT_END) {
        take(1)
        return object
      }
      object[name] = readValue(depth + 1)
    }
  }

  function readArray(depth: number): AmfValue[] {
    const length = bytes.readUInt32BE(take(4))
    if (length > MAX_VALUES) throw new ProtocolError('An AMF array is too long.')
    return Array.from({ length }, () => readValue(depth + 1))
  }
}

export const writeAmf = (...values: AmfValue[]): Buffer => Buffer.concat(values.map(writeValue))

/** The form in which FLV holds `onMetaData`. */
export function writeEcmaArray(object: AmfObject): Buffer {
  const head = Buffer.from([ECMA_ARRAY, 0, 0, 0, 0])
  head.writeUInt32BE(Object.keys(object).length, 1)
  return Buffer.concat([head, writeMembers(object)])
}

function writeValue(value: AmfValue): Buffer {
  if (value === null) return Buffer.from([NULL])
  if (value === undefined) return Buffer.from([UNDEFINED])
  if (typeof value === 'boolean') return Buffer.from([BOOLEAN, value ? 1 : 0])
  if (typeof value === 'string') return Buffer.concat([Buffer.from([STRING]), writeName(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (Array.isArray(value)) {
    const head = Buffer.from([STRICT_ARRAY, 0, 0, 0, 0])
    head.writeUInt32BE(value.length, 1)
    return Buffer.concat([head, ...value.map(writeValue)])
  }
  return Buffer.concat([Buffer.from([OBJECT]), writeMembers(value)])
}

function writeMembers(object: AmfObject): Buffer {
  const members = Object.entries(object).flatMap(([name, value]) => [writeName(name), writeValue(value)])
  return Buffer.concat([...members, Buffer.from([0, 0, OBJECT_END])])
}

function writeName(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8').subarray(0, 0xffff)
  const head = Buffer.alloc(2)
  head.writeUInt16BE(bytes.length)
  return Buffer.concat([head, bytes])
}
