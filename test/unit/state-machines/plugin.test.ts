// The machine `plugin`.

import { describeMachine } from './describe-machine.ts'
import { table } from './plugin.table.ts'

describeMachine(table)
