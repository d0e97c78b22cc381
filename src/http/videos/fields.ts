// The fields of a video's change, in JSON and multipart forms, and their meaning.

import { z } from 'zod'
import { categoryLabels, languageLabels, licenceLabels, privacyLabels, type VideoChanges } from '../../actors/video/index.ts'
import { booleanText, idNumber, moment, readable } from '../plugins/schemas.ts'

const PASSWORD_LENGTH = 'Should have between 2 and 99 characters'

const videoPassword = z.string().min(2, PASSWORD_LENGTH).max(99, PASSWORD_LENGTH)

type Encoding = 'json' | 'form'

/** Numbers may be text in both; booleans are text in forms only, where `null` and an empty text mean null. */
export function updateFields(encoding: Encoding) {
  const boolean = encoding === 'json' ? z.boolean() : booleanText
  const nullable = <T extends z.ZodType>(schema: T) => orNull(encoding, schema)
  return z.object({
    channelId: z.preprocess(toNumber, idNumber).optional(),
    name: readable(z.string().min(3, NAME).max(120, NAME), NAME).optional(),
    category: nullable(oneOf(categoryLabels)).optional(),
    licence: nullable(oneOf(licenceLabels)).optional(),
    language: nullable(z.string().refine((code) => Object.hasOwn(languageLabels, code), 'Invalid value')).optional(),
    privacy: oneOf(privacyLabels).optional(),
    nsfw: boolean.optional(),
    description: nullable(z.string().min(3).max(10_000)).optional(),
    support: nullable(z.string().min(3).max(1000)).optional(),
    waitTranscoding: boolean.optional(),
    commentsPolicy: nullable(integer(1, 3)).optional(),
    commentsEnabled: boolean.optional(),
    downloadEnabled: boolean.optional(),
    tags: nullable(listOf(encoding, readable(z.string().trim().min(2, TAGS).max(30, TAGS), TAGS), { max: 5, message: TAGS })).optional(),
    originallyPublishedAt: nullable(moment).optional(),
    videoPasswords: nullable(listOf(encoding, videoPassword, { max: 100, message: PASSWORDS })).optional(),
    scheduleUpdate: nullable(
      z.object({
        updateAt: moment,
        privacy: nullable(z.preprocess(toNumber, z.literal([1, 2, 4]))).optional(),
      }),
    ).optional(),
  })
}

const NAME = 'Should have a video name between 3 and 120 characters long'
const PASSWORDS = 'Should have up to 100 passwords'
const TAGS = 'Should have an array of up to 5 tags between 2 and 30 characters each'

export type UpdateFields = z.output<ReturnType<typeof updateFields>>

/** The requested changes in terms of the domain. */
export function toChanges(fields: UpdateFields): VideoChanges {
  const { commentsEnabled, commentsPolicy, tags, videoPasswords, scheduleUpdate, ...plain } = fields
  const policy = commentsPolicy ?? (commentsEnabled === undefined ? undefined : commentsEnabled ? 1 : 2)
  return withoutUndefined({
    ...plain,
    ...(policy === undefined ? {} : { commentsPolicy: policy }),
    ...(tags === undefined ? {} : { tags: [...new Set(tags ?? [])] }),
    ...(videoPasswords ? { passwords: videoPasswords } : {}),
    ...(scheduleUpdate === undefined
      ? {}
      : { schedule: scheduleUpdate && { updateAt: scheduleUpdate.updateAt, privacy: scheduleUpdate.privacy ?? null } }),
  })
}

const integer = (min: number, max: number) => z.preprocess(toNumber, z.int().min(min).max(max))

const oneOf = (labels: Readonly<Record<number, string>>) =>
  z.preprocess(
    toNumber,
    z.int().refine((id) => Object.hasOwn(labels, id), 'Invalid value'),
  )

function orNull<T extends z.ZodType>(encoding: Encoding, schema: T) {
  if (encoding === 'json') return schema.nullable()
  return z.preprocess((sent) => (sent === 'null' || sent === '' ? null : sent), schema.nullable())
}

/** Forms send a list with one item as a plain field. */
function listOf<T extends z.ZodType>(encoding: Encoding, item: T, { max, message }: { max: number; message: string }) {
  const list = z.array(item).max(max, message)
  return z.preprocess((sent) => (encoding === 'form' && typeof sent === 'string' ? [sent] : sent), list)
}

function toNumber(sent: unknown): unknown {
  return typeof sent === 'string' && /^-?\d{1,15}$/.test(sent) ? Number(sent) : sent
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

function withoutUndefined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>
}
