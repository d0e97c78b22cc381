// The migrations, in order. They run in process: neither a build step nor a folder scan is needed.

import { Initial } from './0001-initial.ts'
import { UserStates } from './0002-users.ts'
import { Registrations } from './0003-registrations.ts'
import { Settings } from './0004-settings.ts'
import { RuntimeConfig } from './0005-runtime-config.ts'
import { TwoFactor } from './0006-two-factor.ts'
import { Comments } from './0014-comments.ts'

export const migrations = [
  { name: '0001-initial', class: Initial },
  { name: '0002-users', class: UserStates },
  { name: '0003-registrations', class: Registrations },
  { name: '0004-settings', class: Settings },
  { name: '0005-runtime-config', class: RuntimeConfig },
  { name: '0006-two-factor', class: TwoFactor },
  { name: '0014-comments', class: Comments },
]
