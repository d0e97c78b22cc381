// The machine `channel`.

import { table } from './channel.table.ts'
import { describeMachine } from './describe-machine.ts'

describeMachine(table)
