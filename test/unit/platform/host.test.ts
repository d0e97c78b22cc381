import { expect, it } from '@jest/globals'
import { readPasted } from '../../../src/federation/fetch/lookup.ts'
import { parseHandle } from '../../../src/federation/wire/index.ts'
import { readHost, splitHandle, toActorHandle } from '../../../src/http/plugins/handles.ts'
import { asciiHost } from '../../../src/platform/host.ts'
import { testConfig } from '../../support/config.ts'

const ASCII = 'xn--bcher-kva.example'

it.each([
  ['bücher.example', ASCII],
  ['BÜCHER.example', ASCII],
  ['bücher.example', ASCII],
  ['XN--BCHER-KVA.example', ASCII],
  ['bücher.example:9000', `${ASCII}:9000`],
  ['Peer.Example:9000', 'peer.example:9000'],
  ['127.0.0.1:9000', '127.0.0.1:9000'],
  ['localhost', 'localhost'],
  ['not a host', 'not a host'],
  ['', ''],
])('%p is the host %p', (text, host) => {
  expect(asciiHost(text)).toBe(host)
})

it('handles have one host in any notation', () => {
  for (const host of ['bücher.example', 'BÜCHER.EXAMPLE', ASCII]) {
    const handle = { name: 'ann', host: ASCII }
    expect(readHost(`https://${host}/`).toLowerCase()).toBe(ASCII)
    expect(splitHandle(`@ann@${host}`, testConfig())).toEqual(handle)
    expect(toActorHandle(`ann@${host}`, 'peer.example')).toEqual(handle)
    expect(toActorHandle(`ann@${host}`, ASCII)).toEqual({ name: 'ann', host: null })
    expect(parseHandle(`acct:ann@${host}`)).toEqual(handle)
    expect(readPasted(`ann@${host}`, 'https://peer.example')).toEqual({ kind: 'handle', ...handle })
    expect(readPasted(`https://${host}/a/ann`, 'https://peer.example')).toEqual({ kind: 'handle', ...handle })
  }
})
