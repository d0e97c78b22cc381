// What a peer sent breaks the protocol or a bound: the connection ends.

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}
