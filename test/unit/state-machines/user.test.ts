// The machine `user`.

import { describeMachine } from './describe-machine.ts'
import { table } from './user.table.ts'

describeMachine(table)
