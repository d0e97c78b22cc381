// Message types of RTMP 1.0, sections 5.4 and 7.1, and events of user control messages.

export const messageTypes = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowSize: 5,
  peerBandwidth: 6,
  audio: 8,
  video: 9,
  dataAmf3: 15,
  commandAmf3: 17,
  data: 18,
  command: 20,
  aggregate: 22,
} as const

export const userEvents = { streamBegin: 0, streamEnd: 1, ping: 6, pong: 7 } as const
