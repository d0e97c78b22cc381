// Scripts and styles of the pages: compressed on request, and cached by browsers in either form.

import { gunzipSync } from 'node:zlib'
import { expect, it } from '@jest/globals'
import Fastify from 'fastify'
import type { App } from '../../../src/http/app.ts'
import { addAssets } from '../../../src/http/pages/assets.ts'

it('are identical compressed and plain, and requested once', async () => {
  const app = Fastify()
  for (const url of Object.values(addAssets(app as unknown as App))) {
    const plain = await app.inject({ url, headers: { 'accept-encoding': 'gzip;q=0, *' } })
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const packed = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
    for (const { headers } of [plain, packed]) {
      const again = await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } })
      expect(again.statusCode).toBe(304)
    }
  }
})
