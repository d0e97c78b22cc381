import { expect, it } from '@jest/globals'
import { domainOf, makeNewHosts } from '../../../src/federation/fetch/new-hosts.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'

it.each([
  ['video.example', 'video.example'],
  ['a.b.video.example', 'video.example'],
  ['a.video.co.uk', 'video.co.uk'],
  ['a.video.de', 'video.de'],
  ['a.video.example:8443', 'video.example'],
  ['127.0.0.1:9000', '127.0.0.1'],
  ['[::1]:9000', '[::1]'],
  ['localhost:9000', 'localhost'],
])('%s belongs to the domain %s', (host, domain) => {
  expect(domainOf(host)).toBe(domain)
})

it('a hundred thousand names below one domain count as a few hundred servers, without affecting others', async () => {
  const clock = fakeClock()
  const rows = new Set<string>()
  const query = async <Row>(_sql: string, values: readonly unknown[] = []) => (rows.has(String(values[0])) ? [{}] : []) as Row[]
  const config = testConfig({ vireo: { federation: { inbox: { new_hosts_per_domain: 200 } } } })
  const hosts = makeNewHosts({ db: { query }, clock, config: () => config })
  const take = async (host: string) => {
    await hosts.admit(host)
    rows.add(host)
    hosts.note(host)
  }
  for (let n = 0; n < 100_000; n += 1) await take(`n${n}.flood.example`).catch(() => undefined)
  expect(rows.size).toBe(200)
  await expect(hosts.admit('n200.flood.example')).rejects.toMatchObject({ kind: 'unavailable' })
  // Known hosts do not count, and other domains are not affected.
  await hosts.admit('n1.flood.example')
  await take('honest.example')
  clock.pass(3_600_001)
  await take('n200.flood.example')
  expect(rows.size).toBe(202)
})

it('unresolvable names do not count', async () => {
  const config = testConfig({ vireo: { federation: { inbox: { new_hosts_per_domain: 1 } } } })
  const db = { query: async () => [] }
  const hosts = makeNewHosts({ db, clock: fakeClock(), config: () => config })
  for (let n = 0; n < 20; n += 1) await hosts.admit(`n${n}.example.org`)
  hosts.note('n1.example.org')
  await expect(hosts.admit('n2.example.org')).rejects.toMatchObject({ kind: 'unavailable' })
})
