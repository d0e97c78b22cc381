// The machine `channel-sync`.

import { table } from './channel-sync.table.ts'
import { describeMachine } from './describe-machine.ts'

describeMachine(table)
