// A video to be created.

import type { FileDraft } from './files/inspect-file.ts'

/** What the uploader enters about the video, validated. Plain JSON, so that an upload can store it until its file is complete. */
export interface NewVideoFields {
  channelId: number
  name: string
  privacy: number
  category: number | null
  licence: number | null
  language: string | null
  nsfw: boolean
  description: string | null
  support: string | null
  /** True: published when all renditions exist; false: at once, with the uploaded file. */
  waitTranscoding: boolean
  /** True: captions are made from its sound, on servers that do so. Missing in uploads that were begun before it existed. */
  transcribe?: boolean
  commentsPolicy: number
  downloadEnabled: boolean
  tags: string[]
  /** ISO 8601. */
  originallyPublishedAt: string | null
  passwords: string[]
  /** `updateAt` in ISO 8601; a null `privacy` keeps the privacy. */
  schedule: { updateAt: string; privacy: number | null } | null
}

export interface CreatedVideo {
  id: number
  uuid: string
  shortUUID: string
}

/** What is needed to store the video, computed before the transaction. */
export interface VideoDraft extends FileDraft {
  uuid: string
  userId: number
  fields: NewVideoFields
  automaticTags: string[]
}
