// The fields of a new video as clients send them: texts in a form, typed values in JSON.

import { z } from 'zod'
import {
  categoryLabels,
  languageLabels,
  licenceLabels,
  type NewVideoFields,
  type PublishDefaults,
  refuseBadPasswords,
} from '../../actors/video/index.ts'
import { LARGEST_ID } from '../../platform/ids.ts'
import { coercedInteger, idNumber, integerText, moment, readable } from '../plugins/schemas.ts'

const PUBLIC = 1
const PASSWORD_PROTECTED = 5
const NAME = 'Should have a video name between 3 and 120 characters long'
const TAGS = 'Should have an array of up to 5 tags between 2 and 30 characters each'

/** Forms express null by an empty text. */
const nothing = (sent: unknown): unknown => (sent === '' || sent === 'null' ? null : sent)

const textOrNull = (min: number, max: number) =>
  z.preprocess(nothing, z.string().min(min).max(max).nullish()).transform((text) => text ?? null)

const numberOf = (labels: Readonly<Record<number, string>>) =>
  z.preprocess(
    (sent) => (typeof sent === 'string' && /^\d{1,9}$/.test(sent) ? Number(sent) : nothing(sent)),
    z
      .int('Invalid value')
      .refine((number) => Object.hasOwn(labels, number), 'Invalid value')
      .nullish(),
  )

const listOfTexts = <T extends z.ZodType<string>>(item: T, options: { max: number; message: string }) =>
  z.preprocess(
    (sent) => {
      const plain = nothing(sent)
      return plain === undefined || plain === null ? [] : Array.isArray(plain) ? plain : [plain]
    },
    z.array(item, options.message).max(options.max, options.message),
  )

const dateOrNull = (message: string) =>
  z.preprocess(nothing, z.union([moment, z.null()], message).optional()).transform((date) => date?.toISOString() ?? null)

/** A form's `true` or `1`; clients have always been able to send anything else for false. */
export const formFlag = z.preprocess(
  (sent) => (sent === undefined ? undefined : sent === true || sent === 'true' || sent === '1'),
  z.boolean().optional(),
)
const jsonFlag = z.boolean().nullish()

const schedule = z.object({
  updateAt: z
    .unknown()
    .pipe(z.union([moment], 'Should have a schedule update date that conforms to ISO 8601'))
    .transform((date) => date.toISOString()),
  privacy: z
    .preprocess((sent) => nothing(sent), coercedInteger().nullish())
    .refine((privacy) => privacy === null || privacy === undefined || [1, 2, 4].includes(privacy), 'Invalid value')
    .transform((privacy) => privacy ?? null),
})

/** Refusals echo the text as it was sent. */
const policyText = integerText({ min: 1, max: 3 })

export const videoName = readable(z.string(NAME).min(3, NAME).max(120, NAME), NAME)

function fieldsWith<F extends z.ZodType<boolean | null | undefined>>(flag: F) {
  return z.object({
    name: videoName,
    channelId: coercedInteger({ min: 1, max: LARGEST_ID }),
    privacy: coercedInteger({ min: PUBLIC, max: PASSWORD_PROTECTED }).optional(),
    category: numberOf(categoryLabels).transform((category) => category ?? null),
    licence: numberOf(licenceLabels),
    language: z
      .preprocess(
        nothing,
        z
          .string()
          .refine((code) => Object.hasOwn(languageLabels, code), 'Invalid value')
          .nullish(),
      )
      .transform((code) => code ?? null),
    description: textOrNull(3, 10_000),
    support: textOrNull(3, 1000),
    nsfw: flag,
    waitTranscoding: flag,
    downloadEnabled: flag,
    generateTranscription: flag,
    commentsEnabled: flag,
    commentsPolicy: z.preprocess(nothing, z.union([policyText, z.int().min(1).max(3)], 'Invalid value').nullish()),
    tags: listOfTexts(readable(z.string(TAGS).trim().min(2, TAGS).max(30, TAGS), TAGS), {
      max: 5,
      message: TAGS,
    }).transform((tags) => [...new Set(tags)]),
    originallyPublishedAt: dateOrNull('Invalid value'),
    videoPasswords: listOfTexts(z.string().min(2).max(99), {
      max: 100,
      message: 'Should have passwords between 2 and 99 characters each',
    }),
    scheduleUpdate: z.preprocess(nothing, schedule.nullish()),
  })
}

/** For a multipart form, where every value is a text. */
export const formFields = fieldsWith(formFlag).extend({ name: videoName.prefault('') })

/** For a JSON body. */
export const jsonFields = fieldsWith(jsonFlag)

export type SentFields = z.output<typeof formFields> | z.output<typeof jsonFields>

/** The domain's fields, with the defaults of this server. Throws `invalid` for unusable passwords of a protected video. */
export const toNewVideo = (sent: SentFields, defaults: PublishDefaults): NewVideoFields => ({
  ...toUnnamedVideo(sent, defaults),
  name: sent.name,
})

/** The same for a video whose name comes from another source. */
export function toUnnamedVideo(sent: Omit<SentFields, 'name'>, defaults: PublishDefaults): Omit<NewVideoFields, 'name'> {
  const { privacy = defaults.privacy, licence = defaults.licence } = sent
  const { channelId, category, language, description, support, tags } = sent
  const passwords = privacy === PASSWORD_PROTECTED ? sent.videoPasswords : []
  if (privacy === PASSWORD_PROTECTED) refuseBadPasswords(passwords)
  return {
    channelId,
    privacy,
    category,
    licence,
    language,
    description,
    support,
    tags,
    passwords,
    nsfw: sent.nsfw ?? false,
    waitTranscoding: sent.waitTranscoding ?? false,
    transcribe: sent.generateTranscription ?? true,
    downloadEnabled: sent.downloadEnabled ?? defaults.downloadEnabled,
    commentsPolicy: sent.commentsPolicy ?? policyOf(sent.commentsEnabled) ?? defaults.commentsPolicy,
    originallyPublishedAt: sent.originallyPublishedAt,
    schedule: sent.scheduleUpdate ?? null,
  }
}

/** For older clients, which do not know policies. */
const policyOf = (commentsEnabled: boolean | null | undefined): number | undefined =>
  typeof commentsEnabled === 'boolean' ? (commentsEnabled ? 1 : 2) : undefined

/** The response to a finished upload. */
export const uploadedVideo = z.object({
  video: z.object({ id: idNumber, uuid: z.uuid(), shortUUID: z.string() }),
})
