// A running export, as the writers of its parts see it.

import type { Config } from '../../config/index.ts'
import type { Ffmpeg, Store } from '../../media/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { LocalUrls } from '../runtime/index.ts'
import type { ArchiveDocuments } from './archive-documents.ts'
import type { ArchiveWriter } from './archive-writer.ts'
import type { ExportedUser } from './exported-user.ts'

/** What every writer of a part uses. */
export interface Export {
  query: Sql
  store: Store
  ffmpeg: Ffmpeg
  config: () => Config
  urls: LocalUrls
  documents: ArchiveDocuments
  writer: ArchiveWriter
  user: ExportedUser
  withVideoFiles: boolean
  signal: AbortSignal
  /** 0 to 100. */
  progress(percent: number): void
}
