// A video that is to be created.

import type { FileDraft } from './inspect-file.ts'

/** What the uploader says about the video, checked. Plain JSON, so that an upload can keep it until the file is there. */
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
  /** True: published when all renditions are there; false: at once, with the uploaded file. */
  waitTranscoding: boolean
  commentsPolicy: number
  downloadEnabled: boolean
  tags: string[]
  /** ISO 8601. */
  originallyPublishedAt: string | null
  passwords: string[]
  /** `updateAt` in ISO 8601; null as privacy leaves it as it is. */
  schedule: { updateAt: string; privacy: number | null } | null
}

export interface CreatedVideo {
  id: number
  uuid: string
  shortUUID: string
}

/** All that is needed to store the video, worked out before the transaction. */
export interface VideoDraft extends FileDraft {
  uuid: string
  userId: number
  fields: NewVideoFields
  automaticTags: string[]
}
