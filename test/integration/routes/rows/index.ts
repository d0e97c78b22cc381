// All rows of the route matrix, by area. A new area adds its file here.

import type { Row } from '../row.ts'
import { abuseRows } from './abuses.ts'
import { activityPubRows } from './activitypub.ts'
import { blocklistRows } from './blocklists.ts'
import { channelRows } from './channels.ts'
import { commentRows } from './comments.ts'
import { configRows } from './config.ts'
import { feedRows } from './feeds.ts'
import { fileRows } from './files.ts'
import { instanceRows } from './instance.ts'
import { jobRows } from './jobs.ts'
import { liveRows } from './lives.ts'
import { meRows } from './me.ts'
import { pageRows } from './pages.ts'
import { peerRows } from './peers.ts'
import { playlistRows } from './playlists.ts'
import { redundancyRows } from './redundancy.ts'
import { registrationRows } from './registrations.ts'
import { runnerRows } from './runners.ts'
import { serverFollowRows } from './server-follows.ts'
import { serverLogRows } from './server-logs.ts'
import { serverPluginRows } from './server-plugins.ts'
import { sessionRows } from './sessions.ts'
import { subscriptionRows } from './subscriptions.ts'
import { twoFactorRows } from './two-factor.ts'
import { uploadRows } from './uploads.ts'
import { userExportRows } from './user-exports.ts'
import { userRows } from './users.ts'
import { videoImportRows } from './video-imports.ts'
import { videoOwnershipRows } from './video-ownership.ts'
import { videoPartRows } from './video-parts.ts'
import { videoStatsRows } from './video-stats.ts'
import { videoRows } from './videos.ts'
import { viewRows } from './views.ts'
import { watchedWordsRows } from './watched-words.ts'

export const rows: readonly Row[] = [
  ...sessionRows,
  ...twoFactorRows,
  ...registrationRows,
  ...userRows,
  ...meRows,
  ...channelRows,
  ...configRows,
  ...instanceRows,
  ...videoRows,
  ...videoOwnershipRows,
  ...videoPartRows,
  ...viewRows,
  ...videoStatsRows,
  ...uploadRows,
  ...userExportRows,
  ...videoImportRows,
  ...commentRows,
  ...playlistRows,
  ...abuseRows,
  ...blocklistRows,
  ...watchedWordsRows,
  ...serverPluginRows,
  ...runnerRows,
  ...liveRows,
  ...serverFollowRows,
  ...serverLogRows,
  ...redundancyRows,
  ...subscriptionRows,
  ...peerRows,
  ...jobRows,
  ...feedRows,
  ...fileRows,
  ...pageRows,
  ...activityPubRows,
]
