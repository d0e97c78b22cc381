// The commands of an RTMP connection up to `publish` or `play`.

import type { AmfValue } from './amf0.ts'
import { connected, connectionRefused, done, MESSAGE_STREAM, publishAnnounced, streamCreated } from './answers.ts'
import type { RtmpEvent } from './connection.ts'

/** The result of one command: go on, close after a refusal, or the peer asks to publish or to play a stream. */
export type Talk = { next: 'go-on' } | { next: 'close'; reason: string } | StreamTalk

export interface StreamTalk {
  next: 'publish' | 'play'
  /** The stream key, or what identifies the stream and the right to play it. */
  name: string
  messageStream: number
}

const APPLICATION = 'live'
const LONGEST_NAME = 256

export function makeAdmissionTalk(write: (bytes: Buffer) => void): { take(event: RtmpEvent): Talk } {
  let isConnected = false
  return {
    take(event) {
      // Media before `publish` has nowhere to go.
      if (event.kind !== 'command') return { next: 'go-on' }
      const { name, transaction, values, messageStream } = event
      if (name === 'connect') return connect(transaction, values[0])
      if (!isConnected) return { next: 'close', reason: 'the first command is not connect' }
      if (name === 'publish' || name === 'play') return stream(name, values[1], messageStream)
      if (name === 'createStream') write(streamCreated(transaction))
      else if (name === 'FCPublish') write(Buffer.concat([done(transaction), publishAnnounced()]))
      else if (name === 'releaseStream') write(done(transaction))
      return { next: 'go-on' }
    },
  }

  function connect(transaction: number, options: AmfValue): Talk {
    const { app, objectEncoding } = isObject(options) ? options : {}
    if (typeof app !== 'string' || nameOf(app).replace(/\/+$/, '') !== APPLICATION) {
      write(connectionRefused(transaction, `The application is not "${APPLICATION}".`))
      return { next: 'close', reason: 'the application is unknown' }
    }
    isConnected = true
    write(connected(transaction, typeof objectEncoding === 'number' ? objectEncoding : 0))
    return { next: 'go-on' }
  }
}

function stream(next: StreamTalk['next'], asked: AmfValue, messageStream: number): Talk {
  const name = typeof asked === 'string' ? nameOf(asked) : ''
  if (name === '' || name.length > LONGEST_NAME) return { next: 'close', reason: 'the stream key is missing or too long' }
  return { next, name, messageStream: messageStream || MESSAGE_STREAM }
}

/** Without the query string. */
const nameOf = (text: string): string => text.split('?', 1)[0] ?? ''

const isObject = (value: AmfValue): value is Exclude<AmfValue, string | number | boolean | null | undefined | AmfValue[]> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
