// Lists of servers in the two formats that operators exchange.

import { describe, expect, it } from '@jest/globals'
import { readServerList, writeLines, writeServerTable } from '../../../src/actors/blocklist/index.ts'
import { isHost } from '../../../src/http/plugins/handles.ts'
import { testConfig } from '../../support/config.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

const config = testConfig({
  webserver: { hostname: 'here.example' },
  vireo: { federation: { allow_private_addresses: false } },
})
const read = (text: string) => readServerList(text, { ownHost: 'here.example', isHost: (host) => isHost(host, config) })

describe('a list of servers', () => {
  it('has a host per line, in any case and script, without duplicates, with comments and empty lines between', () => {
    const text =
      '\uFEFF# our list\r\nBad.Example\n\n  bad.example. \nbücher.example\nxn--bcher-kva.example\nport.example:8443\nbad.example:443'
    expect(read(text)).toEqual({
      hosts: ['bad.example', 'xn--bcher-kva.example', 'port.example:8443'],
      milder: 0,
      bad: [],
    })
  })

  it("is Mastodon's CSV, of which suspended hosts are used, whatever its comments contain", () => {
    const text = [
      '#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate',
      'one.example,suspend,true,true,"spam, and ""worse""',
      'on two lines",false',
      'two.example,silence,false,false,,false',
      '"THREE.example",,false,false,,false',
      'four.example,noop',
      'five.example,Suspend,,,,',
    ].join('\r\n')
    expect(read(text)).toEqual({ hosts: ['one.example', 'three.example', 'five.example'], milder: 2, bad: [] })
  })

  it('is a CSV with the columns in any order, or with the domain alone', () => {
    expect(read('severity,domain\nsuspend,one.example\n').hosts).toEqual(['one.example'])
    expect(read('domain\none.example\n').hosts).toEqual(['one.example'])
  })

  it('reports the line of an error', () => {
    const text = [
      'domain,severity,public_comment',
      'ok.example,suspend,"two',
      'lines"',
      'exa***.example,suspend,',
      'ok.example,erase,',
      'HERE.example,suspend,',
      'localhost,suspend,',
      `${'a'.repeat(5000)},suspend,`,
      '"open.example,suspend',
    ].join('\n')
    const { hosts, bad } = read(text)
    expect(hosts).toEqual(['ok.example'])
    expect(bad.map(({ line }) => line)).toEqual([4, 5, 6, 7, 8, 9])
    expect(bad.slice(0, 3).map(({ problem }) => problem)).toEqual([
      '"exa***.example" is not the name of a server.',
      '"erase" is no severity.',
      'This server cannot block itself.',
    ])
    expect(read('fine.example\nnot fine\nhttps://fine.example/').bad.map(({ line }) => line)).toEqual([2, 3])
  })

  it('is read as it was exported', () => {
    const hosts = ['one.example', 'xn--bcher-kva.example']
    for (const write of [writeServerTable, writeLines]) {
      expect(read(write(hosts))).toEqual({ hosts, milder: 0, bad: [] })
      expect(read(write([]))).toEqual({ hosts: [], milder: 0, bad: [] })
    }
  })

  it('of a hundred thousand lines is read quickly, even if each opens a quote', () => {
    const spent = startCpuTime()
    const plain = read('a.example\n'.repeat(100_000))
    const quoted = read(`domain\n${'"a.example\n'.repeat(20_000)}`)
    expect(spent()).toBeLessThan(5_000)
    expect(plain.hosts).toEqual(['a.example'])
    expect(quoted.bad.length).toBeGreaterThan(0)
  })
})
