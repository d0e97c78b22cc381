// Connections that have no key accepted yet: few for each address and in all. A new one is always taken; the least advanced one makes room.

export interface WaitingLimits {
  /** Of one address (of one /64 network for IPv6). */
  perAddress: number
  inAll: number
}

export interface WaitingVisitor {
  address: string
  /** Higher numbers stay longer. */
  progress(): number
  close(reason: string): void
}

export function makeWaitingRoom({ perAddress, inAll }: WaitingLimits) {
  /** Oldest first. */
  const waiting = new Set<WaitingVisitor>()
  const ofAddress = new Map<string, Set<WaitingVisitor>>()

  return {
    enter(visitor: WaitingVisitor) {
      const key = networkOf(visitor.address)
      const neighbours = ofAddress.get(key) ?? new Set()
      ofAddress.set(key, neighbours)
      if (neighbours.size >= perAddress) dismiss(neighbours)
      else if (waiting.size >= inAll) dismiss(waiting)
      waiting.add(visitor)
      neighbours.add(visitor)
      // The dismissal may have removed an empty set.
      ofAddress.set(key, neighbours)
    },
    leave,
    closeAll() {
      for (const visitor of [...waiting]) {
        leave(visitor)
        visitor.close('the server stops')
      }
    },
  }

  function leave(visitor: WaitingVisitor): void {
    if (!waiting.delete(visitor)) return
    const key = networkOf(visitor.address)
    const neighbours = ofAddress.get(key)
    neighbours?.delete(visitor)
    if (neighbours?.size === 0) ofAddress.delete(key)
  }

  function dismiss(among: ReadonlySet<WaitingVisitor>): void {
    let least: { visitor: WaitingVisitor; progress: number } | undefined
    for (const visitor of among) {
      const progress = visitor.progress()
      if (!least || progress < least.progress) least = { visitor, progress }
    }
    if (!least) return
    leave(least.visitor)
    least.visitor.close('too many connections wait')
  }
}

/** A host has a whole /64 network of IPv6 addresses. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':')
}
