// Notifies all processes of changes. Messages may be lost, so whatever they invalidate also expires.

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

export interface Bus {
  /**
   * Calls the subscribers of this process before it returns, and reaches those of all others. Never throws during an outage; throws for a
   * payload of more than 7,000 bytes.
   */
  publish(topic: string, payload: JsonValue): Promise<void>
  /** Returns the function that unsubscribes. Errors of listeners are logged. */
  subscribe(topic: string, listener: (payload: JsonValue) => void): () => void
  close(): Promise<void>
}

/** Transport of texts between processes; each back end has one. */
export interface Channel {
  send(text: string): Promise<void>
  close(): Promise<void>
}
