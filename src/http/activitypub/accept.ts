// Whether a client prefers ActivityPub documents to pages.

const DOCUMENTS = new Set(['application/activity+json', 'application/ld+json'])
const PAGES = ['text/html', 'application/json']

interface Range {
  type: string
  quality: number
  order: number
}

/**
 * True if the best match of this Accept header is a document (RFC 9110, 12.5.1): the higher quality wins, then the more specific range,
 * then the first one. Without a header, and for wildcards alone, pages win.
 */
export function prefersActivityPub(accept: string | undefined): boolean {
  if (accept === undefined || !/json/i.test(accept)) return false
  const ranges = accept.slice(0, LONGEST).split(',').map(rangeOf)
  const documents = best(ranges.filter(({ type }) => DOCUMENTS.has(type)))
  if (!documents || documents.quality === 0) return false
  const page = best(PAGES.flatMap((type) => best(ranges.filter((range) => matches(range.type, type))) ?? []))
  return !page || compare(documents, page) < 0
}

const LONGEST = 2000

function rangeOf(text: string, order: number): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = q === undefined ? 1 : Number(q.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0, order }
}

const matches = (range: string, type: string): boolean =>
  range === type || range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))

/** 2 for a type, 1 for `application/*`, 0 for all. */
const precision = ({ type }: Range): number => (type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2)

const best = (ranges: Range[]): Range | undefined => ranges.toSorted(compare)[0]

const compare = (a: Range, b: Range): number => b.quality - a.quality || precision(b) - precision(a) || a.order - b.order
