// The migrations, in order. They run in process: neither a build step nor a folder scan is needed.

import { Initial } from './0001-initial.ts'
import { UserStates } from './0002-users.ts'
import { Registrations } from './0003-registrations.ts'
import { Settings } from './0004-settings.ts'
import { RuntimeConfig } from './0005-runtime-config.ts'
import { TwoFactor } from './0006-two-factor.ts'
import { Playlists } from './0007-playlists.ts'
import { Captions } from './0008-captions.ts'
import { Views } from './0009-views.ts'
import { Moderation } from './0010-moderation.ts'
import { Redundancies } from './0011-redundancy.ts'
import { Follows } from './0012-follows.ts'
import { Pipeline } from './0013-pipeline.ts'
import { Comments } from './0014-comments.ts'
import { Order } from './0015-order.ts'
import { Indexes } from './0016-indexes.ts'
import { Channels } from './0017-channels.ts'
import { Lists } from './0018-lists.ts'
import { History } from './0019-history.ts'
import { Changes } from './0020-changes.ts'
import { Ownership } from './0021-ownership.ts'
import { Doors } from './0022-doors.ts'
import { Listed } from './0023-listed.ts'
import { Search } from './0024-search.ts'
import { Remembered } from './0031-remembered.ts'

export const migrations = [
  { name: '0001-initial', class: Initial },
  { name: '0002-users', class: UserStates },
  { name: '0003-registrations', class: Registrations },
  { name: '0004-settings', class: Settings },
  { name: '0005-runtime-config', class: RuntimeConfig },
  { name: '0006-two-factor', class: TwoFactor },
  { name: '0007-playlists', class: Playlists },
  { name: '0008-captions', class: Captions },
  { name: '0009-views', class: Views },
  { name: '0010-moderation', class: Moderation },
  { name: '0011-redundancy', class: Redundancies },
  { name: '0012-follows', class: Follows },
  { name: '0013-pipeline', class: Pipeline },
  { name: '0014-comments', class: Comments },
  { name: '0015-order', class: Order },
  { name: '0016-indexes', class: Indexes },
  { name: '0017-channels', class: Channels },
  { name: '0018-lists', class: Lists },
  { name: '0019-history', class: History },
  { name: '0020-changes', class: Changes },
  { name: '0021-ownership', class: Ownership },
  { name: '0022-doors', class: Doors },
  { name: '0023-listed', class: Listed },
  { name: '0024-search', class: Search },
  { name: '0031-remembered', class: Remembered },
]
