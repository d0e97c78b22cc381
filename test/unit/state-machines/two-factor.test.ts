// The machine `two-factor`.

import { describeMachine } from './describe-machine.ts'
import { table } from './two-factor.table.ts'

describeMachine(table)
