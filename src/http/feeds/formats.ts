// The formats of a feed: their file extensions, and the types that a client must accept.

export const feedFormats = ['xml', 'rss', 'rss2', 'atom', 'atom1', 'json', 'json1'] as const
export type FeedFormat = (typeof feedFormats)[number]

const XML = ['application/xml', 'text/xml'] as const
const RSS = ['application/rss+xml', ...XML] as const
const ATOM = ['application/atom+xml', ...XML] as const
const JSON_FEED = ['application/json'] as const

/** The first is sent, whichever of them is accepted. */
const TYPES: Record<FeedFormat | 'podcast', readonly string[]> = {
  xml: XML,
  rss: RSS,
  rss2: RSS,
  atom: ATOM,
  atom1: ATOM,
  json: JSON_FEED,
  json1: JSON_FEED,
  podcast: RSS,
}

export const contentTypeOf = (format: FeedFormat | 'podcast'): string => `${TYPES[format][0]}; charset=utf-8`

export const isFeedFormat = (text: unknown): text is FeedFormat => feedFormats.some((format) => format === text)

/** The extension of the feed's own address. */
export function familyOf(format: FeedFormat): 'xml' | 'atom' | 'json' {
  if (format === 'atom' || format === 'atom1') return 'atom'
  return format === 'json' || format === 'json1' ? 'json' : 'xml'
}

/** Longest Accept header that is parsed, characters. */
const LONGEST = 2000

/** True if a client accepts one of the types of a format (RFC 9110, 12.5.1): specific types override wildcards. */
export function accepts(accept: string | undefined, format: FeedFormat | 'podcast'): boolean {
  if (accept === undefined || accept.trim() === '') return true
  const ranges = accept.slice(0, LONGEST).toLowerCase().split(',').map(rangeOf)
  return TYPES[format].some((type) => {
    const [named, ...wider] = [type, `${type.split('/')[0]}/*`, '*/*']
    const found = [named, ...wider].map((range) => ranges.find((one) => one.type === range)).find((one) => one)
    return found !== undefined && found.quality > 0
  })
}

function rangeOf(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  return { type, quality: q === undefined ? 1 : Number(q.slice(2)) || 0 }
}
