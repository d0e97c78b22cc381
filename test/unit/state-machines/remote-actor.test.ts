// The machine `remote-actor`.

import { describeMachine } from './describe-machine.ts'
import { table } from './remote-actor.table.ts'

describeMachine(table)
