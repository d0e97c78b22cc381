// Fields of an imported video: from its user, from the other site, or defaults. Pure.

import type { RemoteMetadata } from '../../media/index.ts'
import { isReadable } from '../../platform/readable.ts'
import {
  categoryLabels,
  type FoundFields,
  languageLabels,
  licenceLabels,
  type NewVideoFields,
  type PublishDefaults,
} from '../video/index.ts'

/** Like those of an upload; omitted ones may be filled in from the source. */
export type ImportFields = Omit<NewVideoFields, 'name' | 'nsfw'> & {
  name?: string
  nsfw?: boolean
  /** True if the licence is only the default of this server. */
  isLicenceOpen?: boolean
}

/** The source of an import. */
export interface ImportTarget {
  targetUrl: string | null
  magnetUri: string | null
  torrentName: string | null
  /** Title in the torrent file. */
  torrentTitle: string | null
}

const ADULT = 18
const NAME = { min: 3, max: 120 }
const DESCRIPTION = { min: 3, max: 10_000 }
const TAG = { min: 2, max: 30, most: 5 }
const LONGEST_READ = 100_000
const NO_NAME = 'Imported video'

/** The fields of an import without any input. */
export const plainFields = (channelId: number, defaults: PublishDefaults): ImportFields => ({
  ...defaults,
  isLicenceOpen: true,
  channelId,
  category: null,
  language: null,
  description: null,
  support: null,
  waitTranscoding: true,
  tags: [],
  passwords: [],
  originallyPublishedAt: null,
  schedule: null,
})

/** The initial fields of the video. */
export const beginningOf = ({ isLicenceOpen: _isLicenceOpen, ...fields }: ImportFields, target: ImportTarget): NewVideoFields => ({
  ...fields,
  name: fields.name ?? nameOf(target),
  nsfw: fields.nsfw ?? false,
})

/** Metadata for the fields that the user left open, within the limits of this server. */
export function fieldsFrom(metadata: RemoteMetadata, fields: ImportFields): FoundFields {
  const { title, description, tags, categories, licence, language, ageLimit, publishedAt } = metadata
  return definedOf({
    name: fields.name === undefined ? fittingName(title) : undefined,
    description: fields.description === null ? cut(description, DESCRIPTION) : undefined,
    tags: fields.tags.length === 0 ? fittingTags(tags) : undefined,
    category: fields.category === null ? idOf(categoryLabels, categories ?? []) : undefined,
    licence: (fields.isLicenceOpen ?? fields.licence === null) ? licenceOf(licence) : undefined,
    language: fields.language === null ? languageOf(language) : undefined,
    nsfw: fields.nsfw === undefined && ageLimit !== undefined ? ageLimit >= ADULT : undefined,
    originallyPublishedAt: fields.originallyPublishedAt === null ? publishedAt?.toISOString() : undefined,
  })
}

/** Converts a language of another site, such as `en-US`; undefined if this server does not have it. */
export function languageOf(code: string | undefined): string | undefined {
  const plain = code?.toLowerCase() ?? ''
  const known = (text: string) => Object.keys(languageLabels).find((one) => one.toLowerCase() === text)
  return known(plain) ?? known(plain.split(/[-_]/)[0] ?? '')
}

function nameOf({ targetUrl, magnetUri, torrentName, torrentTitle }: ImportTarget): string {
  const sources = [
    torrentTitle,
    torrentName && withoutExtension(torrentName),
    magnetUri && URL.parse(magnetUri)?.searchParams.get('dn'),
    targetUrl && withoutExtension(lastOf(targetUrl)),
    targetUrl && URL.parse(targetUrl)?.hostname,
  ]
  for (const source of sources) {
    const name = fittingName(source ?? undefined)
    if (name !== undefined) return name
  }
  return NO_NAME
}

function lastOf(url: string): string {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const withoutExtension = (name: string): string => name.replace(/\.[A-Za-z0-9]{1,8}$/, '')

const fittingName = (text: string | undefined): string | undefined => (text !== undefined && isReadable(text) ? cut(text, NAME) : undefined)

/** Without characters that cannot be stored; undefined if too little is left. */
function cut(text: string | undefined, { min, max }: { min: number; max: number }): string | undefined {
  // Far longer texts come from other sites.
  const beginning = (text ?? '')
    .slice(0, LONGEST_READ)
    .replaceAll('\0', '')
    .trim()
    .slice(0, max * 2)
  let fitting = ''
  for (const character of beginning) {
    if (fitting.length + character.length > max) break
    fitting += character
  }
  return fitting.length < min ? undefined : fitting
}

function fittingTags(tags: readonly string[] | undefined): string[] | undefined {
  const fitting = [...new Set((tags ?? []).map((tag) => tag.replaceAll('\0', '').trim()))]
    .filter((tag) => tag.length >= TAG.min && tag.length <= TAG.max && isReadable(tag))
    .slice(0, TAG.most)
  return fitting.length > 0 ? fitting : undefined
}

function idOf(labels: Readonly<Record<number, string>>, names: readonly string[]): number | undefined {
  const wanted = names.map((name) => name.toLowerCase())
  const found = Object.entries(labels).find(([, label]) => wanted.includes(label.toLowerCase()))
  return found && Number(found[0])
}

/** Names used by sites and Creative Commons. */
const LICENCES: readonly [RegExp, number][] = [
  [/^(creative commons )?attribution licen[cs]e|^cc[ -]by$/, 1],
  [/public domain|^cc0/, 7],
  [/^cc[ -]by[ -]sa\b/, 2],
  [/^cc[ -]by[ -]nd\b/, 3],
  [/^cc[ -]by[ -]nc[ -]sa\b/, 5],
  [/^cc[ -]by[ -]nc[ -]nd\b/, 6],
  [/^cc[ -]by[ -]nc\b/, 4],
]

function licenceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return idOf(licenceLabels, [text]) ?? LICENCES.find(([pattern]) => pattern.test(text.toLowerCase().trim()))?.[1]
}

const definedOf = (fields: { [K in keyof FoundFields]: FoundFields[K] | undefined }): FoundFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
