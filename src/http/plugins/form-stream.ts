// A multipart form whose texts are read before it is sent on. They come first: they are checked before anything is stored.

import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'

/** Of the fields before the first file, and how long they may take. */
const HEAD_BYTES = 256 * 1024
const FILE = /\r\ncontent-disposition:[^\r\n]*;\s*filename=[^\r\n]*\r\n/i
const HEAD_MS = 20_000

export type FormStream = ReturnType<typeof formStream>

/** A multipart form (RFC 7578) whose first fields are read before it is sent on. */
export function formStream({ raw, headers }: FastifyRequest) {
  const [, boundary = ''] = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '') ?? []
  const chunks = raw.iterator({ destroyOnReturn: false })
  let start = Buffer.alloc(0)
  async function* all(): AsyncGenerator<Buffer> {
    yield start
    yield* chunks
  }
  return {
    /** The fields before the first file. */
    async head(): Promise<Map<string, string[]>> {
      const cut = setTimeout(() => raw.destroy(), HEAD_MS)
      for (let from = 0; start.length < HEAD_BYTES && !FILE.test(start.toString('latin1', from)); ) {
        const { value, done } = await chunks.next()
        if (done) break
        // Searched again for the sake of a header that arrives in parts.
        from = Math.max(0, start.length - 1024)
        start = Buffer.concat([start, value])
      }
      clearTimeout(cut)
      const fields = new Map<string, string[]>()
      for (const part of start.toString().split(`--${boundary}`)) {
        const [, name, value] = /^\r\ncontent-disposition: form-data; name="([^"\r\n]{1,100})"\r\n\r\n(.*)\r\n$/is.exec(part) ?? []
        if (name !== undefined && value !== undefined) fields.set(name, [...(fields.get(name) ?? []), value])
      }
      return fields
    },
    /** False if the form has no file, or the first one is of this field and was not chosen: browsers send an empty name then. */
    mayHave(field: string): boolean {
      const [header] = FILE.exec(start.toString('latin1')) ?? []
      if (header === undefined) return start.length >= HEAD_BYTES
      return !header.includes(` name="${field}"`) || !header.includes('filename=""')
    },
    /** The form with these texts before its file, in place of those that were read. */
    after(texts: [string, string][]) {
      const head = texts
        .map(([name, text]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`)
        .join('')
      const cut = Math.max(0, start.lastIndexOf(`--${boundary}`, FILE.exec(start.toString('latin1'))?.index ?? start.length))
      const length = headers['content-length'] && String(Number(headers['content-length']) - cut + Buffer.byteLength(head))
      start = Buffer.concat([Buffer.from(head), start.subarray(cut)])
      return { length, stream: Readable.from(all()) }
    },
    /** Lets others read the rest. */
    end: async () => await chunks.return?.().catch(() => undefined),
  }
}
