// The machine `abuse`.

import { table } from './abuse.table.ts'
import { describeMachine } from './describe-machine.ts'

describeMachine(table)
