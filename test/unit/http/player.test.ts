// The player's script, in a page reduced to what it uses.

import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { describe, expect, it } from '@jest/globals'

const read = (name: string) => readFileSync(new URL(`../../../src/http/pages/assets/${name}`, import.meta.url), 'utf8')
const SCRIPT = read('player-times.js') + read('player.js')

class Part extends EventTarget {
  hidden = false
  value = ''
  readonly classList = { add: () => undefined, remove: () => undefined }
  replaceChildren(): void {
    // The menus are not part of this test.
  }
}

class Video extends Part {
  controls = true
  autoplay = false
  paused = true
  currentTime = 0
  playbackRate = 1
  defaultPlaybackRate = 1
  readonly source = Object.assign(new Part(), { src: 'http://localhost/a.mp4', type: 'video/mp4', dataset: {} })
  querySelector = () => this.source
  querySelectorAll = () => [this.source]
  async play(): Promise<void> {
    this.paused = false
    this.dispatchEvent(new Event('play'))
  }
  pause(): void {
    this.paused = true
  }
  /** As in browsers when another file is selected. */
  load(): void {
    this.playbackRate = this.defaultPlaybackRate
  }
  reach(seconds: number): void {
    this.currentTime = seconds
    this.dispatchEvent(new Event('timeupdate'))
  }
}

/** A page with one player; `left`: the URLs to which it navigated. */
function open(dataset: Record<string, string>) {
  const video = new Video()
  const speed = new Part()
  const parts: Record<string, Part> = { video, '.speed': speed, '.play': new Part() }
  const root = Object.assign(new Part(), {
    dataset: { duration: '60', ...dataset },
    querySelector: (selector: string) => parts[selector] ?? null,
    querySelectorAll: () => [],
  })
  const left: string[] = []
  const document = Object.assign(new EventTarget(), {
    currentScript: { dataset: { hls: '/assets/hls.js', texts: '{}' } },
    querySelectorAll: (selector: string) => (selector === '.player' ? [root] : []),
  })
  const location = { assign: (address: string) => left.push(address) }
  runInContext(SCRIPT, createContext({ document, location, crypto }))
  return { video, speed, left }
}

describe('the player', () => {
  it('stops at the stop time, once', async () => {
    const { video, left } = open({ stop: '5' })
    await video.play()
    video.reach(4.9)
    expect(video.paused).toBe(false)
    video.reach(5.1)
    expect({ paused: video.paused, left }).toEqual({ paused: true, left: [] })
    await video.play()
    video.reach(6)
    expect(video.paused).toBe(false)
  })

  it.each([
    ['where the element of a playlist ends', { stop: '5' }, (video: Video) => video.reach(5)],
    ['at the end of the video', {}, (video: Video) => video.dispatchEvent(new Event('ended'))],
  ])('continues with the next video %s', async (_name, dataset, end) => {
    const { video, left } = open({ ...dataset, next: '/w/p/x?playlistPosition=2&autoplay=1' })
    await video.play()
    end(video)
    expect(left).toEqual(['/w/p/x?playlistPosition=2&autoplay=1'])
  })

  it('keeps the playback rate when another file is selected', async () => {
    const { video, speed } = open({})
    speed.value = '2'
    speed.dispatchEvent(new Event('change'))
    video.load()
    expect(video.playbackRate).toBe(2)
  })
})
