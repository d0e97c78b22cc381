import { describe, expect, it } from '@jest/globals'
import { IntlMessageFormat } from 'intl-messageformat'
import { workSteps } from '../../../src/actors/job-queue/index.ts'
import { languageLabels } from '../../../src/actors/video/index.ts'
import { JOB_TYPE_NAMES, nsfwPolicies } from '../../../src/config/index.ts'
import { capital } from '../../../src/http/pages/bodies/text.ts'
import { wordsOf } from '../../../src/http/pages/screens/fields.ts'
import { english } from '../../../src/platform/language.ts'
import { languages, messagesIn } from '../../../src/platform/languages.ts'
import { findings, isMade, labelsOfApi, messagesOfPages, refusalsWithValues, wordsOfSettings } from '../../support/messages.ts'

/** Values of the API with translated labels. */
const WORDS = [
  ...['Accepted', 'Active', 'Completed', 'Delayed', 'Failed', 'Paused', 'Pending', 'Refused', 'Rejected', 'Waiting'],
  ...['Healthy', 'Failing', 'Dormant', 'Debug', 'Info', 'Warn', 'Error', 'Video', 'Comment', 'Account'],
  ...['Read', 'Upload', 'Manage', 'Admin', 'Manual', 'Most views', 'Recently added'],
  ...JOB_TYPE_NAMES.map(wordsOf),
  ...workSteps.map(capital),
  ...nsfwPolicies.map(wordsOf),
  ...Object.entries(languageLabels).flatMap(([code, label]) => (english.nameOf(code) === undefined ? [label] : [])),
]

describe.each(languages.filter((language) => language !== english).map(({ tag }) => tag))('the messages in %s', (tag) => {
  const translations = messagesIn(tag)
  const wanted = new Set([...messagesOfPages(), ...labelsOfApi(), ...WORDS, ...wordsOfSettings(), ...findings(), ...refusalsWithValues()])

  it('are complete, without unused ones', () => {
    expect([...wanted].filter((message) => !translations[message])).toEqual([])
    expect(Object.keys(translations).filter((message) => !wanted.has(message) && !isMade(message))).toEqual([])
  })

  it('translate the same refusals as other languages', () => {
    for (const other of languages) if (other !== english) expect(Object.keys(messagesIn(other.tag))).toEqual(Object.keys(translations))
  })

  it('have the parameters and tags of the English text', () => {
    for (const [message, translation] of Object.entries(translations)) {
      expect([translation, [...parametersIn(translation, tag)].sort()]).toEqual([translation, [...parametersIn(message, 'en')].sort()])
    }
  })

  it('have all plural forms of the language', () => {
    for (const translation of Object.values(translations)) {
      if (!translation.includes('plural,')) continue
      const said = [0, 1, 2, 5, 1_000_000].map((count) => new IntlMessageFormat(translation, tag).format({ count }))
      expect(said.every((text) => typeof text === 'string' && /\d/.test(text))).toBe(true)
    }
  })
})

type Node = ReturnType<IntlMessageFormat['getAst']>[number]

function parametersIn(message: string, tag: string): Set<string> {
  const found = new Set<string>()
  const walk = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      // Literals are of type 0, and `#` has no value.
      if ('value' in node && node.type !== 0) found.add('children' in node ? `<${node.value}>` : node.value)
      if ('children' in node) walk(node.children)
      if ('options' in node) for (const option of Object.values(node.options)) walk(option.value)
    }
  }
  walk(new IntlMessageFormat(message, tag).getAst())
  return found
}
