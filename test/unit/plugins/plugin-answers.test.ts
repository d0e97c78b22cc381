// Requests of plugins to the server, with bounded work for each.

import { describe, expect, it } from '@jest/globals'
import { makeAnswerPlugin } from '../../../src/actors/plugin/plugin-answers.ts'
import { latch } from '../../support/until.ts'

type Deps = Parameters<typeof makeAnswerPlugin>[0]
type Row = Parameters<ReturnType<typeof makeAnswerPlugin>>[0]
const plugin = (id: number) => ({ id, npm_name: `peertube-plugin-${id}` }) as Row

function counting() {
  const { opened, open } = latch()
  const counts = { running: 0, most: 0, done: 0, logged: 0 }
  const work = async () => {
    counts.running += 1
    counts.most = Math.max(counts.most, counts.running)
    await opened
    counts.running -= 1
    counts.done += 1
    return []
  }
  const deps = {
    db: { query: work },
    tell: work,
    logger: { info: () => void counts.logged++ },
    plugins: { setSetting: work, settings: work, declare: work },
    externalLogin: work,
  }
  return { answer: makeAnswerPlugin(deps as unknown as Deps), counts, open }
}

const QUESTIONS: [string, object][] = [
  ['storeData', { key: 'a', value: 1 }],
  ['getData', { key: 'a' }],
  ['setSetting', { name: 'a', value: 1 }],
  ['getSettings', { names: ['a'] }],
  ['loadUser', { id: 1 }],
  ['loadVideo', { id: '1' }],
  ['externalLogin', { authName: 'a', user: {} }],
]

describe('requests of a plugin', () => {
  it('are processed sequentially, so that they never use all database connections', async () => {
    const { answer, counts, open } = counting()
    const requested = Array.from({ length: 13 }, () => QUESTIONS.map(([name, args]) => answer(plugin(1), name, args))).flat()
    const other = answer(plugin(2), 'storeData', { key: 'a', value: 1 })
    await answer(plugin(1), 'log', { level: 'info', message: 'logs wait for nothing' })
    expect(counts).toMatchObject({ running: 2, done: 0, logged: 1 })
    open()
    await Promise.all([...requested, other])
    expect(counts).toMatchObject({ running: 0, most: 2, done: 13 * QUESTIONS.length + 1 })
  })

  it('continue after a failure', async () => {
    const { answer, counts, open } = counting()
    open()
    await expect(answer(plugin(1), 'storeData', { key: '', value: 1 })).rejects.toThrow()
    await expect(answer(plugin(1), 'anything', {})).rejects.toThrow('does not know')
    await answer(plugin(1), 'getData', { key: 'a' })
    expect(counts.done).toBe(1)
  })

  it('for videos read them by their keys only', async () => {
    const requested: [string, unknown[]][] = []
    const query = async (text: string, values: unknown[]) => {
      requested.push([/where (.*)$/.exec(text)?.[1] ?? '', values])
      return []
    }
    const answer = makeAnswerPlugin({ db: { query } } as unknown as Deps)
    for (const id of ['12', '5c5f4d6c-8a57-4a3c-9f0e-0c1d2e3f4a5b', "1' or true", '99999999999'])
      await answer(plugin(1), 'loadVideo', { id })
    expect(requested).toEqual([
      ['v.id = $1', ['12']],
      ['v.uuid = $1', ['5c5f4d6c-8a57-4a3c-9f0e-0c1d2e3f4a5b']],
    ])
  })
})
