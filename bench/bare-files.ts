// The baseline of bytes: node:http and a read stream of one file, with the requested range and nothing else. Started by bench/bytes.ts,
// which sends the path.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

process.once('message', (path: string) => {
  const server = createServer(async (request, response) => {
    const { size } = await stat(path)
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const range = first === undefined ? { start: 0, end: size - 1 } : { start: Number(first), end: Number(last) }
    response.writeHead(first === undefined ? 200 : 206, {
      'content-type': 'video/mp4',
      'content-length': range.end - range.start + 1,
      ...(first === undefined ? {} : { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
    })
    createReadStream(path, range).pipe(response)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
process.once('disconnect', () => process.exit(0))
