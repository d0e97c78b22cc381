// The player: a native one with a choice of quality and speed, chapters, keys, and progress reports. The HLS library for browsers that need
// it is loaded when playback starts. Without this script the page plays as well.

const HLS_SCRIPT = document.currentScript.dataset.hls
const TEXTS = JSON.parse(document.currentScript.dataset.texts)
const HLS_TYPE = 'application/vnd.apple.mpegurl'
const REPORT_MS = 5000
/** Of a live that cannot be reached, and of a page that waits for one without news. */
const RELOAD_MS = 2000
const LOOK_MS = 5000
const PUBLISHED = 1
const session = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

function begin(root) {
  const video = root.querySelector('video')
  if (!video) return root.dataset.live && followLive(root)
  const button = root.querySelector('.play')
  const sources = [...video.querySelectorAll(`source:not([type="${HLS_TYPE}"])`)]
  const files = sources.map(({ src, dataset: { label } }) => ({ src: src.split('#')[0], label }))
  const player = { root, video, button, files, hls: null, file: null, isStarted: false, controls: video.controls }
  // Chromium's own HLS player stops in a live that has just begun.
  const needsLibrary = root.dataset.live && 'MediaSource' in window
  player.isNative = !root.dataset.hls || (video.canPlayType(HLS_TYPE) !== '' && !needsLibrary)
  if (video.querySelector('source') === null) return

  const [background, foreground] = (root.dataset.colours ?? '').split(' ')
  if (background) root.style.setProperty('--play', background)
  if (foreground) root.style.setProperty('--play-ink', foreground)
  const wantsToPlay = video.autoplay
  if (!player.isNative) {
    // Load nothing before the source is chosen.
    video.autoplay = false
    for (const source of video.querySelectorAll('source')) source.remove()
    // The browser may have chosen a source already.
    video.load()
  }
  video.controls = false
  button.hidden = false
  button.addEventListener('click', () => start(player))
  video.addEventListener('play', () => started(player))
  video.addEventListener('click', () => {
    if (!player.isStarted) start(player)
    else if (!video.controls) toggle(video)
  })
  video.addEventListener('error', () => failed(player), true)
  keepPosition(player)
  offerTools(player)
  for (const offer of Object.values(globalThis.videoTimes)) offer(player, start)
  offerTheatre(player)
  offerPictureInPicture(player)
  for (const part of document.querySelectorAll('[data-scripted]')) part.hidden = false
  listenToKeys(player)
  report(player)
  if (root.dataset.live) followLive(root, player)
  else video.addEventListener('ended', () => goOn(root))
  if (wantsToPlay) start(player)
}

const goOn = ({ dataset: { next } }) => next && location.assign(next)

async function start(player) {
  const { video } = player
  player.button.hidden = true
  player.root.classList.add('busy')
  try {
    if (!player.isNative && !player.hls && !player.file) await attachHls(player)
    await video.play()
  } catch (error) {
    // Browsers refuse autoplay with sound.
    if (error.name === 'NotAllowedError' && !video.muted) {
      video.muted = true
      await start(player)
    } else if (!player.isStarted && player.root.querySelector('.trouble').hidden) player.button.hidden = false
  } finally {
    player.root.classList.remove('busy')
  }
}

function started(player) {
  player.isStarted = true
  player.button.hidden = true
  player.video.controls = player.controls
  player.root.classList.add('started')
  for (const part of player.root.querySelectorAll('.tools, .times')) part.hidden = false
}

const loadHls = () =>
  new Promise((resolve, reject) => {
    if (window.Hls) return resolve(window.Hls)
    const script = document.createElement('script')
    document.head.append(Object.assign(script, { src: HLS_SCRIPT, onload: () => resolve(window.Hls), onerror: reject }))
  })

/** With hls.js; if that fails, with whole files. */
async function attachHls(player) {
  const { root, video } = player
  const Hls = await loadHls().catch(() => undefined)
  if (!Hls?.isSupported()) return playFile(player, player.files[0])
  const startPosition = Number(root.dataset.start ?? -1)
  const hls = new Hls({ enableWorker: false, capLevelToPlayerSize: true, startPosition })
  player.hls = hls
  let isMended = false
  hls.on(Hls.Events.ERROR, (_event, { fatal, type }) => {
    if (!fatal) return
    if (type === Hls.ErrorTypes.NETWORK_ERROR && root.dataset.live)
      setTimeout(() => player.hls === hls && hls.loadSource(root.dataset.hls), RELOAD_MS)
    else if (type === Hls.ErrorTypes.MEDIA_ERROR && !isMended) {
      isMended = true
      hls.recoverMediaError()
    } else playFile(player, player.files[0], true)
  })
  hls.on(Hls.Events.MANIFEST_PARSED, () => {
    const levels = hls.levels.map(({ height, name }, level) => [name || (height ? `${height}p` : TEXTS.original), `level ${level}`])
    fillQualities(player, levels.reverse())
  })
  hls.loadSource(root.dataset.hls)
  hls.attachMedia(video)
}

function playFile(player, file, goesOn = false) {
  const { video } = player
  if (!file) return tellTrouble(player)
  const at = video.currentTime || Number(player.root.dataset.start ?? 0)
  const isPlaying = goesOn || !video.paused
  player.hls?.destroy()
  player.hls = null
  player.file = file
  video.src = file.src
  video.addEventListener('loadedmetadata', () => seekTo(video, at), { once: true })
  if (isPlaying) video.play().catch(() => undefined)
}

function failed(player) {
  const { video } = player
  if (player.hls) return
  // Each source reports that it cannot be played: the last one, or the element, decides.
  if (video.error === null && video.networkState !== HTMLMediaElement.NETWORK_NO_SOURCE) return
  const next = player.files[player.files.findIndex(({ src }) => src === video.currentSrc) + 1]
  if (next && video.currentSrc !== next.src) playFile(player, next, true)
  else tellTrouble(player)
}

const tell = (root, textContent) => Object.assign(root.querySelector('.trouble'), { textContent, hidden: false })

function tellTrouble({ root, button, video }) {
  tell(root, video.error?.code === 2 ? TEXTS.lost : TEXTS.unplayable)
  button.hidden = true
}

const seekTo = (video, seconds) => {
  if (seconds > 0 && Math.abs(video.currentTime - seconds) > 1) video.currentTime = seconds
}

function keepPosition({ root, video }) {
  const first = Number(root.dataset.start ?? 0)
  let stop = Number(root.dataset.stop)
  // A video that was watched to its end begins again.
  const from = first < root.dataset.duration - 1 ? first : 0
  video.addEventListener('loadedmetadata', () => seekTo(video, from), { once: true })
  video.addEventListener('timeupdate', () => {
    if (!(video.currentTime >= stop)) return
    stop = Number.NaN
    video.pause()
    goOn(root)
  })
}

/** `choices`: pairs of a label and a value. */
function fillQualities({ root }, choices) {
  root.querySelector('.quality')?.replaceChildren(...[[TEXTS.auto, ''], ...choices].map((choice) => new Option(...choice)))
}

function offerTools(player) {
  const { root, video, files } = player
  const quality = root.querySelector('.quality')
  if (quality) {
    const choices = files.map(({ label }, index) => [label, `file ${index}`])
    fillQualities(player, choices)
    quality.addEventListener('change', () => {
      const [kind, index] = quality.value.split(' ')
      if (kind === 'level') player.hls.nextLevel = Number(index)
      else if (kind === 'file') playFile(player, files[Number(index)])
      else if (player.hls) player.hls.nextLevel = -1
      else if (!player.isNative) attachHls(player)
      else playFile(player, root.dataset.hls ? { src: root.dataset.hls } : files[0])
    })
  }
  root.querySelector('.speed')?.addEventListener('change', ({ target }) => {
    // `playbackRate` alone is reset when another file is chosen.
    video.playbackRate = Number(target.value)
    video.defaultPlaybackRate = video.playbackRate
  })
}

/** The player as wide as the page, until this browser is told otherwise. */
function offerTheatre({ root }) {
  const button = root.querySelector('.theatre')
  if (!button) return
  const { classList } = root.closest('.watch')
  const widen = (isWide) => button.setAttribute('aria-pressed', classList.toggle('wide', isWide))
  button.addEventListener('click', () => {
    widen(!classList.contains('wide'))
    localStorage.setItem('theatre', classList.contains('wide'))
  })
  // Some browsers are told to store nothing, and throw.
  try {
    widen(localStorage.getItem('theatre') === 'true')
  } catch {}
}

/** Chromium hides it in a menu; Firefox shows a button of its own, and has no such property. */
function offerPictureInPicture({ root, video }) {
  const button = root.querySelector('.floating')
  if (!button || !document.pictureInPictureEnabled) return
  button.hidden = false
  button.addEventListener('click', () => {
    const done = document.pictureInPictureElement ? document.exitPictureInPicture() : video.requestPictureInPicture()
    done.catch(() => undefined)
  })
  for (const event of ['enterpictureinpicture', 'leavepictureinpicture'])
    video.addEventListener(event, () => button.setAttribute('aria-pressed', String(document.pictureInPictureElement === video)))
}

function toggle(video) {
  if (video.paused) video.play().catch(() => undefined)
  else video.pause()
}

const KEYS = {
  k: (video) => toggle(video),
  ' ': (video) => toggle(video),
  j: (video) => move(video, -10),
  l: (video) => move(video, 10),
  ArrowLeft: (video) => move(video, -5),
  ArrowRight: (video) => move(video, 5),
  m: (video) => {
    video.muted = !video.muted
  },
  c: ({ textTracks }) => {
    const track = [...textTracks].find(({ mode }) => mode === 'showing') ?? textTracks[0]
    if (track) track.mode = track.mode === 'showing' ? 'disabled' : 'showing'
  },
  t: (_video, root) => root.querySelector('.theatre')?.click(),
  p: (_video, root) => root.querySelector('.floating')?.click(),
  f: (_video, root) => {
    if (document.fullscreenElement) document.exitFullscreen()
    else root.requestFullscreen?.().catch(() => undefined)
  },
}

const move = (video, seconds) => {
  video.currentTime = Math.max(0, Math.min(video.duration || 0, video.currentTime + seconds))
}

/** Unless another element uses them: not while somebody types or chooses, nor in the browser's own bar. */
function listenToKeys(player) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const isFree = event.target === document.body || event.target.matches('main, .times input')
    const act = KEYS[event.key]
    if (!act || !isFree) return
    event.preventDefault()
    if (player.isStarted || event.key === 't') act(player.video, player.root)
    else if (event.key === 'k' || event.key === ' ') start(player)
  })
}

/** Reports the position every few seconds and after each seek: views and the owner's statistics depend on it. */
function report({ root, video }) {
  const { video: uuid, duration, live, password, reports, token } = root.dataset
  if (!uuid) return
  let last = 0
  let isSeeking = false
  const send = (viewEvent) => {
    last = Date.now()
    const currentTime = Math.floor(live ? video.currentTime : Math.min(video.currentTime, Number(duration)))
    const body = { currentTime, sessionId: session, ...(viewEvent && { viewEvent }) }
    const headers = { 'content-type': 'application/json', ...(password && { 'x-peertube-video-password': password }) }
    const form = reports && new URLSearchParams({ ...body, token, ...(password && { password }) })
    const sent = form ? { body: form } : { headers, body: JSON.stringify(body) }
    fetch(reports ?? `/api/v1/videos/${uuid}/views`, { method: 'POST', keepalive: true, ...sent }).catch(() => undefined)
  }
  video.addEventListener('timeupdate', () => {
    if (!video.paused && !isSeeking && Date.now() - last >= REPORT_MS) send()
  })
  video.addEventListener('seeking', () => {
    isSeeking = video.played.length > 0
  })
  video.addEventListener('seeked', () => {
    if (isSeeking) send('seek')
    isSeeking = false
  })
  video.addEventListener('ended', () => send())
}

/** A live begins by itself, ends with a message, and is replaced by its next stream or its replay. Without `player` it is awaited. */
function followLive(root, player) {
  let isAwaited = !player
  // It is in the cache of the browser when the live begins.
  if (isAwaited) loadHls().catch(() => undefined)
  const reload = () => {
    if (!isAwaited) return
    isAwaited = false
    const url = new URL(location.href)
    url.searchParams.set('autoplay', '1')
    location.replace(url)
  }
  const end = () => {
    isAwaited = true
    tell(root, TEXTS.over)
  }
  player?.video.addEventListener('ended', end)
  listenToLive(Number(root.dataset.live), (event, value) => {
    if (event === 'state-change' && value.state === PUBLISHED) reload()
    if (event === 'views-change') {
      const shown = document.querySelector('.viewers')
      if (shown) shown.textContent = value.viewers.toLocaleString(document.documentElement.lang)
    }
    if (event === 'force-end' && player) {
      player.hls?.destroy()
      player.video.removeAttribute('src')
      player.video.controls = false
      end()
    }
  })
  // Hidden videos have no news, and news may be lost.
  setInterval(async () => {
    if (!isAwaited || document.hidden) return
    const answer = await fetch(location.href).catch(() => undefined)
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined
    if (page?.querySelector('.player video')) reload()
  }, LOOK_MS)
}

/** Events of the namespace /live-videos, in the protocol of Socket.IO. */
function listenToLive(videoId, listener) {
  const NAMESPACE = '/live-videos'
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/socket.io/?EIO=4&transport=websocket`)
  socket.addEventListener('message', ({ data }) => {
    const message = String(data)
    if (message === '2') socket.send('3')
    else if (message.startsWith('0')) socket.send(`40${NAMESPACE},`)
    else if (message.startsWith(`40${NAMESPACE},`)) socket.send(`42${NAMESPACE},${JSON.stringify(['subscribe', { videoId }])}`)
    else if (message.startsWith(`42${NAMESPACE},`)) listener(...JSON.parse(message.slice(`42${NAMESPACE},`.length)))
  })
  // Not all viewers at once, after a restart of the server.
  socket.addEventListener('close', () => setTimeout(() => listenToLive(videoId, listener), LOOK_MS * (1 + Math.random())))
}

// Everything above is defined from here on.
for (const root of document.querySelectorAll('.player')) begin(root)
