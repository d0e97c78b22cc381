// All rows of the route matrix, by area. A new area adds its file here.

import type { Row } from '../row.ts'
import { activityPubRows } from './activitypub.ts'
import { commentRows } from './comments.ts'
import { configRows } from './config.ts'
import { fileRows } from './files.ts'
import { meRows } from './me.ts'
import { pageRows } from './pages.ts'
import { peerRows } from './peers.ts'
import { registrationRows } from './registrations.ts'
import { serverFollowRows } from './server-follows.ts'
import { sessionRows } from './sessions.ts'
import { twoFactorRows } from './two-factor.ts'
import { uploadRows } from './uploads.ts'
import { userRows } from './users.ts'
import { videoRows } from './videos.ts'

export const rows: readonly Row[] = [
  ...sessionRows,
  ...twoFactorRows,
  ...registrationRows,
  ...userRows,
  ...meRows,
  ...configRows,
  ...videoRows,
  ...uploadRows,
  ...commentRows,
  ...serverFollowRows,
  ...peerRows,
  ...fileRows,
  ...pageRows,
  ...activityPubRows,
]
