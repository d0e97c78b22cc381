// The migrations, in order. They run in process: neither a build step nor a folder scan is needed.

import { Initial } from './0001-initial.ts'
import { Registrations } from './0003-registrations.ts'

export const migrations = [
  { name: '0001-initial', class: Initial },
  { name: '0003-registrations', class: Registrations },
]
