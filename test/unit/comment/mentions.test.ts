// Mentions in the text of a comment.

import { expect, it } from '@jest/globals'
import { mentionedNames } from '../../../src/actors/comment/mentions.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

const HOST = 'here.example:9000'

it.each<[string, string[]]>([
  ['@alice, see', ['alice']],
  ['(@alice) and *@Bob_2*!', ['alice', 'bob_2']],
  ['what says @alice.', ['alice']],
  ['what says @al.ice', ['al.ice']],
  ['@alice@here.example:9000: and @bob@HERE.example:9000.', ['alice', 'bob']],
  ['@alice@here.example @bob@there.example', []],
  ['alice@here.example:9000 or https://here.example/@alice or a/@alice', []],
  ['@alice @alice @ALICE', ['alice']],
  ['@ alice, @@', []],
  ['日本語の@alice さん', ['alice']],
])('%s', (text, names) => {
  expect(mentionedNames(text, HOST)).toEqual(names)
})

it('a text of many mentions is cheap, and mentions only a few', () => {
  const text = Array.from({ length: 3000 }, (_, nth) => `@u${nth}`).join(' ')
  const spent = startCpuTime()
  const names = mentionedNames(text, HOST)
  mentionedNames('@a'.repeat(500_000), HOST)
  mentionedNames(`@${'a.'.repeat(500_000)}`, HOST)
  expect(spent()).toBeLessThan(2000)
  expect(names).toHaveLength(50)
})
