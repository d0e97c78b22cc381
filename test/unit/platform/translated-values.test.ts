// Texts with values from elsewhere, such as refusals of the API and findings of the check-up, in the language of a reader.

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
  it('is translated line by line, and so are the values', () => {
    expect(said('Line 3: "a b" is no name.\nLine 5: You cannot.')).toBe('Zeile 3: „a b“ ist kein Name. Zeile 5: Geht nicht.')
  })

  it('is translated by the message that says the most', () => {
    expect(said('x.example is of y.example.')).toBe('Von y.example: x.example.')
  })

  it('is translated whether or not a point was added to it', () => {
    expect(said('an unknown key x.')).toBe('ein unbekannter Schlüssel x.')
  })

  it('stays as it is if it only ends like a message, in English, and if it is longer than any', () => {
    for (const text of ['This video is of another server.', '.', '', '{0}', `Line 3: ${'x'.repeat(1000)}`]) expect(said(text)).toBe(text)
    expect(recognized('Line 3: You cannot.').in(english)).toBe('Line 3: You cannot.')
  })

  it('puts values that look like a message or like HTML where they belong', () => {
    expect(said('Line 1: "{0} <b> {1, plural," is no name.')).toBe('Zeile 1: „{0} <b> {1, plural,“ ist kein Name.')
  })
})

describe.each(languages.filter((language) => language !== english).map((language) => [language.tag, language] as const))(
  'the messages with values in %s',
  (tag, language) => {
    it('are recognized as themselves', () => {
      for (const message of Object.keys(messagesIn(tag)).filter((one) => one.includes('{0}'))) {
        const values = [...message.matchAll(/\{\d\}/g)].map((_found, index) => `value-${index}`)
        const text = message.replaceAll(/\{(\d)\}/g, 'value-$1')
        expect([text, language.recognize(text)]).toEqual([text, { message, values }])
      }
    })
  },
)
