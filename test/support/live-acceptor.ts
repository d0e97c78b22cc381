// A process that accepts live streams in tests, and can be killed. Arguments: the folder, and the duration of a segment in seconds. Sends
// its port.

import { silentLogger } from '../../src/platform/logger.ts'
import { startAcceptor } from './live.ts'

const [folder = '.', seconds = '4'] = process.argv.slice(2)
const { port } = await startAcceptor({ folder, seconds: Number(seconds), logger: silentLogger })
process.send?.({ port })
