// The answers to RTMP commands of a publisher or a player (RTMP 1.0, section 7.2), as ffmpeg, OBS, GStreamer and FMLE expect them.

import type { AmfObject } from './amf0.ts'
import { peerBandwidth, setOutgoingChunkSize, userControl, windowSize, writeCommand } from './chunk-writer.ts'
import { WINDOW_BYTES } from './connection.ts'
import { userEvents } from './message-types.ts'

/** The only message stream of a connection. */
export const MESSAGE_STREAM = 1

export function connected(transaction: number, objectEncoding: number): Buffer {
  const server = { fmsVer: 'FMS/3,0,1,123', capabilities: 31 }
  const information = { ...status('status', 'NetConnection.Connect.Success', 'The connection is open.'), objectEncoding }
  return Buffer.concat([
    windowSize(WINDOW_BYTES),
    peerBandwidth(WINDOW_BYTES),
    setOutgoingChunkSize(),
    writeCommand(0, '_result', transaction, server, information),
  ])
}

export const connectionRefused = (transaction: number, description: string): Buffer =>
  Buffer.concat([
    setOutgoingChunkSize(),
    writeCommand(0, '_error', transaction, null, status('error', 'NetConnection.Connect.Rejected', description)),
  ])

export const streamCreated = (transaction: number): Buffer => writeCommand(0, '_result', transaction, null, MESSAGE_STREAM)

export const done = (transaction: number): Buffer => writeCommand(0, '_result', transaction, null, undefined)

/** FMLE waits for it. */
export const publishAnnounced = (): Buffer =>
  writeCommand(0, 'onFCPublish', 0, null, status('status', 'NetStream.Publish.Start', 'The stream may be published.'))

export const publishStarted = (messageStream: number): Buffer =>
  Buffer.concat([
    userControl(userEvents.streamBegin, messageStream),
    writeCommand(messageStream, 'onStatus', 0, null, status('status', 'NetStream.Publish.Start', 'The stream is published.')),
  ])

export const publishRefused = (messageStream: number, description: string): Buffer =>
  writeCommand(messageStream, 'onStatus', 0, null, status('error', 'NetStream.Publish.BadName', description))

export const publishEnded = (messageStream: number, description: string): Buffer =>
  writeCommand(messageStream, 'onStatus', 0, null, status('status', 'NetStream.Unpublish.Success', description))

export const playStarted = (messageStream: number): Buffer =>
  Buffer.concat([
    userControl(userEvents.streamBegin, messageStream),
    writeCommand(messageStream, 'onStatus', 0, null, status('status', 'NetStream.Play.Start', 'The stream follows.')),
  ])

export const playRefused = (messageStream: number, description: string): Buffer =>
  writeCommand(messageStream, 'onStatus', 0, null, status('error', 'NetStream.Play.StreamNotFound', description))

export const playEnded = (messageStream: number): Buffer =>
  Buffer.concat([
    userControl(userEvents.streamEnd, messageStream),
    writeCommand(messageStream, 'onStatus', 0, null, status('status', 'NetStream.Play.Stop', 'The stream has ended.')),
  ])

const status = (level: 'status' | 'error', code: string, description: string): AmfObject => ({ level, code, description })
