import { describe, expect, it } from '@jest/globals'
import { parseContentRange } from '../../../src/http/uploads/content-range.ts'

describe('the Content-Range of a chunk', () => {
  it('has a first and a last byte and the size of the whole', () => {
    expect(parseContentRange('bytes 0-9/20')).toEqual({ kind: 'chunk', from: 0, to: 9, size: 20 })
  })

  it('may be a query for the offset', () => {
    expect(parseContentRange('bytes */20')).toEqual({ kind: 'status', size: 20 })
    expect(parseContentRange('bytes */*')).toEqual({ kind: 'status', size: null })
  })

  it.each([undefined, '', 'hello', 'bytes 0-9', 'bytes -9/20', 'items 0-9/20', 'bytes 0-9/*', 'bytes 0-9/20 '])(
    'is invalid for %p',
    (header) => {
      expect(parseContentRange(header)).toBeNull()
    },
  )
})
