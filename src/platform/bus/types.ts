// Tells all processes that something changed. Messages may be lost, so whatever they invalidate also expires by itself.

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

export interface Bus {
  /**
   * Calls the subscribers of this process before it returns, and reaches those of all others. Never throws for a back end that is away; throws for
   * a payload of more than 7,000 bytes.
   */
  publish(topic: string, payload: JsonValue): Promise<void>
  /** Returns the function that ends the subscription. A listener that throws is logged. */
  subscribe(topic: string, listener: (payload: JsonValue) => void): () => void
  close(): Promise<void>
}

/** How text travels between processes; each back end has one. */
export interface Channel {
  send(text: string): Promise<void>
  close(): Promise<void>
}
