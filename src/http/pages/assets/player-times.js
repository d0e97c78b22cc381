// Times of a video: the bar below the picture, with chapters and pictures of the storyboard, links to chapters, and sharing from a time on.
// One script with player.js, which follows.

globalThis.videoTimes = { offerBar, offerChapters, offerStart }

const HINT_PX = 160
/** After a move by keyboard. */
const HINT_MS = 2000

/** Seconds as `1:02:03`, as on the pages. */
function clock(seconds) {
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, '0'))
  return parts.join(':').replace(/^00:0?|^0/, '')
}

/** Shows the picture of a time in an element of this width (px), if there is a storyboard. */
function drawPreview(element, { dataset }, seconds, shown) {
  if (!dataset.storyboard) return
  const [picture, ...sizes] = dataset.storyboard.split(' ')
  const [total, width, height, every] = sizes.map(Number)
  const inRow = Math.max(1, Math.floor(total / width))
  const index = Math.floor(Math.max(0, Math.min(seconds, dataset.duration - 1)) / every)
  const scale = shown / width
  Object.assign(element.style, {
    width: `${shown}px`,
    height: `${height * scale}px`,
    backgroundImage: `url("${encodeURI(picture).replaceAll('%25', '%')}")`,
    backgroundSize: `${total * scale}px auto`,
    backgroundPosition: `${-(index % inRow) * shown}px ${-Math.floor(index / inRow) * height * scale}px`,
  })
}

/** A slider over a drawn track: the browser's own knows pointers, touch, keys and screen readers. */
function offerBar({ root, video }) {
  const bar = root.querySelector('.times')
  if (!bar) return
  const [track, slider, hint, now] = ['.track', 'input', '.hint', '.now'].map((part) => bar.querySelector(part))
  const duration = Number(slider.max)
  const chapters = JSON.parse(bar.dataset.chapters).map(([timecode, title]) => ({ timecode, title }))
  for (const { timecode } of chapters.filter(({ timecode }) => timecode > 0)) {
    const edge = track.insertBefore(document.createElement('i'), slider)
    edge.style.left = `${(100 * timecode) / duration}%`
  }

  const words = (seconds) => {
    const chapter = chapters.findLast(({ timecode }) => timecode <= seconds)
    return chapter ? `${clock(seconds)} · ${chapter.title}` : clock(seconds)
  }
  const tell = () => {
    slider.value = video.currentTime
    slider.setAttribute('aria-valuetext', words(video.currentTime))
  }
  const hide = () => hint.toggleAttribute('hidden', true)
  const point = (seconds) => {
    hint.hidden = false
    hint.querySelector('bdi').textContent = words(seconds)
    drawPreview(hint.querySelector('.preview'), root, seconds, HINT_PX)
    const centred = (slider.clientWidth * seconds) / duration - hint.offsetWidth / 2
    hint.style.left = `${Math.max(0, Math.min(slider.clientWidth - hint.offsetWidth, centred))}px`
  }

  const draw = () => {
    track.style.setProperty('--done', `${(100 * video.currentTime) / duration}%`)
    now.textContent = words(video.currentTime)
    // Screen readers announce each change of the focused slider.
    if (document.activeElement !== slider) tell()
  }
  video.addEventListener('timeupdate', draw)
  let hiding
  video.addEventListener('seeking', () => {
    draw()
    tell()
    if (document.activeElement !== slider) return
    point(video.currentTime)
    clearTimeout(hiding)
    hiding = setTimeout(hide, HINT_MS)
  })
  slider.addEventListener('input', () => point(Number(slider.value)))
  slider.addEventListener('change', () => {
    video.currentTime = Number(slider.value)
  })
  slider.addEventListener('pointermove', ({ offsetX }) => {
    clearTimeout(hiding)
    point(duration * Math.max(0, Math.min(1, offsetX / slider.clientWidth)))
  })
  // Safari leaves the focus elsewhere.
  slider.addEventListener('pointerdown', () => slider.focus())
  for (const event of ['focus', 'keydown']) slider.addEventListener(event, tell)
  for (const event of ['pointerleave', 'blur']) slider.addEventListener(event, hide)
}

/** Links to a timestamp of the page's own video seek at once, with a preview picture if there is one. */
function offerChapters(player, start) {
  const { root, video } = player
  for (const link of document.querySelectorAll('a[data-seek]')) {
    const seconds = Number(link.dataset.seek)
    const preview = link.querySelector('.preview')
    if (preview) drawPreview(preview, root, seconds, 112)
    link.addEventListener('click', async (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return
      event.preventDefault()
      root.scrollIntoView({ block: 'nearest' })
      root.dataset.start = String(seconds)
      if (!player.isStarted) await start(player)
      if (video.readyState > 0) video.currentTime = seconds
    })
  }
}

/** Link and embed code begin at the time beside them: that of the player, until it is asked for. */
function offerStart({ video }) {
  const [link, code] = document.querySelectorAll('.share [readonly]')
  const [asked, time] = document.querySelectorAll('.share p input')
  if (!time) return
  const show = () => {
    const seconds = asked.checked && time.validity.valid ? time.value.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) : 0
    const query = seconds > 0 ? `?start=${seconds}` : ''
    link.value = link.defaultValue + query
    code.value = code.defaultValue.replace(/ src="[^"]*/, (source) => source + query)
  }
  const follow = () => {
    time.value = clock(video.currentTime)
    show()
  }
  video.addEventListener('timeupdate', () => asked.checked || follow())
  video.addEventListener('seeked', follow)
  asked.addEventListener('change', show)
  time.addEventListener('input', () => {
    asked.checked = true
    show()
  })
}
