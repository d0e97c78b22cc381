// Valid messages of peers to the tracker. Others are not passed to it, because it would adopt the objects as its own.

import { parse } from 'node:querystring'
import { z } from 'zod'

/** 20 bytes, one in each character: an info hash or a peer id. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: any byte.
const BYTES = /^[\u0000-\u00ff]{20}$/

/** Swarms in one scrape. */
const MAX_SCRAPED = 50
/** Maximum offers of one announce. */
const MAX_OFFERS = 82

const events = ['started', 'stopped', 'completed', 'update', 'paused'] as const
const session = (type: 'offer' | 'answer') => z.object({ type: z.literal(type), sdp: z.string().max(50_000) })
const bytes = z.string().regex(BYTES)
const offerId = z.string().max(100)
/** `Infinity` is null in JSON. */
const left = z
  .number()
  .nullish()
  .transform((value) => value ?? undefined)
const swarms = z.union([bytes, z.array(bytes).min(1).max(MAX_SCRAPED)])

const announce = z.object({
  action: z.literal('announce'),
  info_hash: bytes,
  peer_id: bytes,
  event: z.enum(events).optional(),
  left,
  numwant: z.number().optional(),
  offers: z
    .array(z.object({ offer: session('offer'), offer_id: offerId }))
    .max(MAX_OFFERS)
    .nullish(),
  answer: session('answer').nullish(),
  offer_id: offerId.nullish(),
  to_peer_id: bytes.nullish(),
})

const scrape = z.object({ action: z.literal('scrape'), info_hash: swarms })

export type PeerMessage = z.infer<typeof announce> | z.infer<typeof scrape>

/** A message of a peer on a WebSocket; undefined if it is invalid. */
export function readMessage(text: string): PeerMessage | undefined {
  try {
    return z.union([announce, scrape]).safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

const number = z.string().regex(/^\d{1,20}$/)
const port = z.string().regex(/^[1-9]\d{0,4}$/)

const announceQuery = z.object({
  info_hash: bytes,
  peer_id: bytes,
  port,
  left: number.optional(),
  numwant: number.optional(),
  event: z
    .enum([...events, 'empty', ''])
    .optional()
    .transform((event) => event || undefined),
})

const scrapeQuery = z.object({ info_hash: swarms })

/** A missing or invalid field of a query. */
interface Wrong {
  wrong: string
}

/** The query of an announce over HTTP for the tracker, reduced to known fields. */
export function readAnnounce(query: string): { query: string } | Wrong {
  const read = announceQuery.safeParse(fieldsOf(query))
  if (!read.success) return wrongOf(read.error)
  const known = Object.entries({ ...read.data, compact: '1' }).filter(([, value]) => value !== undefined)
  return { query: known.map(([name, value]) => `${name}=${escaped(String(value))}`).join('&') }
}

/** The swarms of a scrape over HTTP, in hexadecimal and in order. */
export function readScrape(query: string): { infoHashes: string[] } | Wrong {
  const read = scrapeQuery.safeParse(fieldsOf(query))
  if (!read.success) return wrongOf(read.error)
  const infoHashes = [read.data.info_hash].flat().map((one) => Buffer.from(one, 'latin1').toString('hex'))
  return { infoHashes: [...new Set(infoHashes)].sort() }
}

const wrongOf = ({ issues }: z.ZodError): Wrong => ({ wrong: String(issues[0]?.path[0]) })

/** Each byte is escaped separately: they are not UTF-8. */
const fieldsOf = (query: string) => ({
  ...parse(query, undefined, undefined, { decodeURIComponent: unescape, maxKeys: 2 * MAX_SCRAPED }),
})

const escaped = (text: string): string =>
  Buffer.from(text, 'latin1')
    .toString('hex')
    .replace(/../g, (byte) => `%${byte}`)
