// Translation of texts with values, such as refusals of the API and findings of the doctor.

import { describe, expect, it } from '@jest/globals'
import { english, makeLanguage, recognized } from '../../../src/platform/language.ts'
import { languages, messagesIn } from '../../../src/platform/languages.ts'

const other = makeLanguage('de', () => ({
  'Line {0}: {1}': 'Zeile {0}: {1}',
  '"{0}" is no name.': '„{0}“ ist kein Name.',
  'You cannot.': 'Geht nicht.',
  '{0} is {1}.': '{0} ist {1}.',
  '{0} is of {1}.': 'Von {1}: {0}.',
  'an unknown key {0}': 'ein unbekannter Schlüssel {0}',
}))
const said = (text: string) => recognized(text).in(other)

describe('a text with values', () => {
  it('is translated line by line, with its values', () => {
    expect(said('Line 3: "a b" is no name.\nLine 5: You cannot.')).toBe('Zeile 3: „a b“ ist kein Name. Zeile 5: Geht nicht.')
  })

  it('is translated by the most specific message', () => {
    expect(said('x.example is of y.example.')).toBe('Von y.example: x.example.')
  })

  it('is translated with or without a final period', () => {
    expect(said('an unknown key x.')).toBe('ein unbekannter Schlüssel x.')
  })

  it('is unchanged if it only ends like a message, in English, and if it is too long', () => {
    for (const text of ['This video is of another server.', '.', '', '{0}', `Line 3: ${'x'.repeat(1000)}`]) expect(said(text)).toBe(text)
    expect(recognized('Line 3: You cannot.').in(english)).toBe('Line 3: You cannot.')
  })

  it('keeps values that look like a message or like HTML', () => {
    expect(said('Line 1: "{0} <b> {1, plural," is no name.')).toBe('Zeile 1: „{0} <b> {1, plural,“ ist kein Name.')
  })
})

describe.each(languages.filter((language) => language !== english).map((language) => [language.tag, language] as const))(
  'the messages with values in %s',
  (tag, language) => {
    it('are recognised as themselves', () => {
      for (const message of Object.keys(messagesIn(tag)).filter((one) => one.includes('{0}'))) {
        const values = [...message.matchAll(/\{\d\}/g)].map((_found, index) => `value-${index}`)
        const text = message.replaceAll(/\{(\d)\}/g, 'value-$1')
        expect([text, language.recognize(text)]).toEqual([text, { message, values }])
      }
    })
  },
)
