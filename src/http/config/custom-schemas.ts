// ServerConfigCustom: the request and response for changes of the configuration by an administrator. The order of the fields is that of the
// refused ones in responses.

import { z } from 'zod'
import { nsfwPolicies } from '../../config/index.ts'
import { isReadable } from '../../platform/readable.ts'
import { readable } from '../plugins/schemas.ts'
import { emailAddress } from '../users/fields.ts'

const LARGEST = Number.MAX_SAFE_INTEGER

const flag = z.boolean()
/** Markdown, styles and scripts. */
const longText = z.string().max(100_000)
const shortText = z.string().max(1_000)
/** As large as other programs accept (32 bits). */
const counted = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
/** Bytes or milliseconds. */
const amount = z.int().min(0).max(LARGEST)
/** Threads, or concurrent jobs: more than any machine can use is a mistake. */
const atOnce = z.int().min(0).max(1024)
/** -1 for no limit. */
const limit = z.int().min(-1).max(LARGEST)
const switched = z.object({ enabled: flag })
const sized = z.object({ size: counted })
/** The name of a transcoding profile; an unknown one means the default. */
const profile = z.string().min(1).max(200)
const framesPerSecond = z.int().min(1).max(1_000).nullable()

const isWebAddress = (text: string) => text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? '')
const webAddress = shortText.refine(isWebAddress, 'Should be a web address, or empty')

const resolutions = {
  '144p': flag,
  '240p': flag,
  '360p': flag,
  '480p': flag,
  '720p': flag,
  '1080p': flag,
  '1440p': flag,
  '2160p': flag,
}

export const BROADCAST_LEVELS = ['info', 'warning', 'error'] as const

/** `isTheme`: whether a theme is installed. A field may be omitted; a body without any section lacks its required fields. */
export function customBody(isTheme: (name: string) => boolean) {
  const whole = wholeBody(isTheme)
  return optionalFields(whole).superRefine((body, context) => {
    if (Object.keys(body).length > 0) return
    for (const issue of whole.safeParse(emptySections(whole)).error?.issues ?? []) context.addIssue({ ...issue })
  })
}

/** The same sections with all fields optional. */
const optionalFields = (schema: z.ZodObject): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, child]) => {
        const inner = child instanceof z.ZodOptional ? child.unwrap() : child
        return [name, (inner instanceof z.ZodObject ? optionalFields(inner) : (inner as z.ZodType)).optional()]
      }),
    ),
  )

/** The required sections, empty. */
const emptySections = (schema: z.ZodObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, child]) => (child instanceof z.ZodObject ? [[name, emptySections(child)]] : [])),
  )

const wholeBody = (isTheme: (name: string) => boolean) =>
  z.object({
    instance: z.object({
      name: shortText.refine((name) => name === '' || isReadable(name), 'Should have a text that can be read'),
      shortDescription: longText,
      description: longText,
      terms: longText,
      defaultNSFWPolicy: z.enum(nsfwPolicies),
      // Clients have always been allowed to send a number here, and a single algorithm below.
      defaultClientRoute: z.union([shortText, z.number()]),
      customizations: z.object({ css: longText, javascript: longText }),
      codeOfConduct: longText.optional(),
      creationReason: longText.optional(),
      moderationInformation: longText.optional(),
      administrator: longText.optional(),
      maintenanceLifetime: longText.optional(),
      businessModel: longText.optional(),
      hardwareInformation: longText.optional(),
      languages: z.array(z.string().max(50)).max(500).optional(),
      categories: z.array(z.int().min(0).max(LARGEST)).max(500).optional(),
      isNSFW: flag.optional(),
      serverCountry: shortText.optional(),
      support: z.object({ text: longText.optional() }).optional(),
      social: z
        .object({
          externalLink: shortText.optional(),
          mastodonLink: shortText.optional(),
          blueskyLink: shortText.optional(),
        })
        .optional(),
    }),
    services: z.object({ twitter: z.object({ username: shortText }) }),
    cache: z.object({ previews: sized, captions: sized, torrents: sized, storyboards: sized }),
    signup: z.object({
      enabled: flag,
      limit,
      requiresEmailVerification: flag,
      requiresApproval: flag,
      minimumAge: counted,
    }),
    admin: z.object({ email: emailAddress }),
    contactForm: switched,
    user: z.object({
      history: z.object({ videos: switched }),
      videoQuota: limit,
      videoQuotaDaily: limit,
      defaultChannelName: readable(z.string().min(1).max(120)).optional(),
    }),
    videoChannels: z.object({ maxPerUser: z.int().min(1).max(LARGEST) }),
    transcoding: z.object({
      enabled: flag,
      originalFile: z.object({ keep: flag }),
      allowAdditionalExtensions: flag,
      threads: atOnce,
      concurrency: atOnce.min(1),
      resolutions: z.object({ '0p': flag, ...resolutions }),
      remoteRunners: switched,
      alwaysTranscodeOriginalResolution: flag,
      fps: z.object({ max: framesPerSecond }),
      webVideos: switched,
      hls: z.object({ enabled: flag, splitAudioAndVideo: flag.optional() }),
      allowAudioFiles: flag.optional(),
      profile: profile.optional(),
    }),
    videoStudio: z.object({ enabled: flag, remoteRunners: switched }),
    videoFile: z.object({ update: switched }),
    import: z.object({
      videos: z.object({ concurrency: atOnce, http: switched, torrent: switched }),
      videoChannelSynchronization: z.object({ enabled: flag, maxPerUser: counted.optional() }),
      users: switched,
    }),
    export: z.object({
      users: z.object({ enabled: flag, maxUserVideoQuota: amount, exportExpiration: amount }),
    }),
    trending: z.object({
      videos: z.object({
        algorithms: z.object({
          default: shortText,
          enabled: z.union([z.array(z.string().max(50)).max(20), z.string().max(50)]),
        }),
      }),
    }),
    followers: z.object({ instance: z.object({ enabled: flag, manualApproval: flag }) }),
    theme: z.object({ default: z.string().refine(isTheme, 'Should be an installed theme') }),
    broadcastMessage: z.object({ enabled: flag, message: longText, level: shortText, dismissable: flag }),
    live: z.object({
      enabled: flag,
      allowReplay: flag,
      /** Milliseconds. */
      maxDuration: limit,
      maxInstanceLives: limit.nullable(),
      maxUserLives: limit.nullable(),
      transcoding: z.object({
        enabled: flag,
        threads: atOnce,
        resolutions: z.object({ ...resolutions, '0p': flag.optional() }),
        alwaysTranscodeOriginalResolution: flag,
        fps: z.object({ max: framesPerSecond }),
        remoteRunners: switched,
        profile: profile.optional(),
      }),
      latencySetting: switched.optional(),
    }),
    search: z.object({
      remoteUri: z.object({ users: flag, anonymous: flag }),
      searchIndex: z.object({ enabled: flag, url: webAddress, disableLocalSearch: flag, isDefaultSearch: flag }),
    }),
    client: z
      .object({
        videos: z.object({ miniature: z.object({ preferAuthorDisplayName: flag.optional() }).optional() }).optional(),
        menu: z.object({ login: z.object({ redirectOnSingleExternalAuth: flag.optional() }).optional() }).optional(),
      })
      .optional(),
    autoBlacklist: z.object({ videos: z.object({ ofUsers: switched.optional() }).optional() }).optional(),
    followings: z
      .object({
        instance: z
          .object({
            autoFollowBack: switched.optional(),
            autoFollowIndex: z.object({ enabled: flag.optional(), indexUrl: webAddress.optional() }).optional(),
          })
          .optional(),
      })
      .optional(),
    storyboards: switched.optional(),
    videoTranscription: z.object({ enabled: flag.optional(), remoteRunners: switched.optional() }).optional(),
  })

/** Two fields that may be sent in another form than they are stored. */
export const sentForms = z.object({
  instance: z.object({ defaultClientRoute: z.union([z.string(), z.number()]).optional() }).optional(),
  trending: z
    .object({
      videos: z
        .object({
          algorithms: z.object({ enabled: z.union([z.array(z.string()), z.string()]).optional() }).optional(),
        })
        .optional(),
    })
    .optional(),
})

/** Editable, but missing in the view of this version of the contract. */
const NOT_RETURNED = new Set(['serverCountry', 'support', 'social'])

/** The types of the fields without their limits: the files may hold values beyond them. */
function viewOf(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return viewOf(schema.unwrap())
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(viewOf))
  if (schema instanceof z.ZodArray) return z.array(viewOf(schema.element))
  if (schema instanceof z.ZodNumber) return schema instanceof z.ZodNumberFormat ? z.int() : z.number()
  if (!(schema instanceof z.ZodObject)) return schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum ? schema : z.string()
  const fields = Object.entries(schema.shape).filter(([name]) => !NOT_RETURNED.has(name))
  return z.object(Object.fromEntries(fields.map(([name, field]) => [name, viewOf(field)])))
}

type Viewed<Field> = Field extends readonly unknown[]
  ? Field
  : Field extends object
    ? { [Name in Exclude<keyof Field, 'serverCountry' | 'support' | 'social'>]-?: Viewed<NonNullable<Field[Name]>> }
    : Field

export type CustomView = Viewed<z.infer<ReturnType<typeof wholeBody>>>

export const customView = (viewOf(wholeBody(() => true)) as z.ZodType<CustomView>).meta({ id: 'ServerConfigCustom' })
