use super::*;

fn frame(kind: u8, channel: u16, payload: &[u8]) -> Vec<u8> {
    let size = payload.len() as u32;
    [&[kind][..], &channel.to_be_bytes(), &size.to_be_bytes(), payload, &[FRAME_END]].concat()
}

fn publish_method(channel: u16, key: &[u8]) -> Vec<u8> {
    frame(FRAME_METHOD, channel, &[&[0, 60, 0, 40, 0, 0, 0, key.len() as u8][..], key, &[0]].concat())
}

fn header(channel: u16, body_size: u64, properties: &[u8]) -> Vec<u8> {
    frame(FRAME_HEADER, channel, &[&[0, 60, 0, 0][..], &body_size.to_be_bytes(), properties].concat())
}

fn publish(channel: u16, key: &[u8], properties: &[u8], body: &[u8]) -> Vec<u8> {
    let mut out = [publish_method(channel, key), header(channel, body.len() as u64, properties)].concat();
    if !body.is_empty() {
        out.extend_from_slice(&frame(FRAME_BODY, channel, body));
    }
    out
}

fn ack(channel: u16, tag: u64, multiple: u8) -> Vec<u8> {
    frame(FRAME_METHOD, channel, &[&[0, 60, 0, 80][..], &tag.to_be_bytes(), &[multiple]].concat())
}

fn method(channel: u16, class: u16, method: u16) -> Vec<u8> {
    frame(FRAME_METHOD, channel, &[class.to_be_bytes(), method.to_be_bytes()].concat())
}

/// Events in words, so that tests can be read.
fn told(parser: &mut Parser, bytes: &[u8]) -> Vec<String> {
    let mut runs = Vec::new();
    let (consumed, events) = parser.parse(bytes, 0, bytes.len(), &mut runs).unwrap();
    let mut told: Vec<_> = events.iter().map(|event| tell(event, &runs)).collect();
    if consumed != bytes.len() {
        told.push(format!("{} bytes left", bytes.len() - consumed));
    }
    told
}

fn tell(event: &Event<'_>, runs: &[u8]) -> String {
    match event {
        Event::Run(run) => {
            let read = super::super::run::Run::open(&runs[run.place.clone()]).unwrap();
            let mut messages = read.messages(0).unwrap();
            let mut bodies = Vec::new();
            while let Some(message) = messages.next_message().unwrap() {
                bodies.push(String::from_utf8_lossy(&message.body[..message.body.len().min(8)]).into_owned());
            }
            assert_eq!((bodies.len() as u32, read.count), (run.count, run.count));
            format!("run {} {} [{}]", run.channel, read.key, bodies.join(" "))
        }
        Event::Ack { channel, low, high } => format!("ack {channel} {low}-{high}"),
        Event::AckMultiple { channel, tag } => format!("ack {channel} to {tag}"),
        Event::Method { channel, class, method, .. } => format!("method {channel} {class}.{method}"),
        Event::Heartbeat => "heartbeat".into(),
        Event::Error(error) => format!("error {} {} {}.{}", error.channel, error.code, error.class, error.method),
    }
}

fn parser() -> Parser {
    Parser::new(8192, 100_000)
}

const PLAIN: &[u8] = &[0, 0];

#[test]
fn publishes_alike_are_one_run() {
    let bytes = [publish(1, b"a", PLAIN, b"1"), publish(1, b"a", PLAIN, b""), publish(1, b"a", PLAIN, b"3")].concat();
    assert_eq!(told(&mut parser(), &bytes), ["run 1 a [1  3]"]);
}

#[test]
fn whatever_decides_about_a_message_ends_the_run() {
    let priority = |value| vec![0x08, 0, value];
    let expiration = |text: &[u8]| [&[0x01, 0, text.len() as u8], text].concat();
    let copies = b"\x20\0\0\0\0\x08\x02CCA\0\0\0\0".to_vec();
    for (first, second, is_one) in [
        (PLAIN.to_vec(), vec![0x10, 0, 2], false),
        (PLAIN.to_vec(), vec![0x10, 0, 1], true),
        (PLAIN.to_vec(), vec![0x80, 0, 1, b't'], true),
        (PLAIN.to_vec(), priority(0), true),
        (priority(3), priority(3), true),
        (priority(3), priority(4), false),
        (expiration(b"60"), expiration(b"60"), true),
        (expiration(b"60"), expiration(b"61"), false),
        (expiration(b""), PLAIN.to_vec(), false),
        (vec![0, 0x10, 1, b'u'], vec![0, 0x10, 1, b'v'], false),
        (vec![0x02, 0, 2, b'r', b'q'], vec![0x02, 0, 2, b's', b'q'], true),
        (copies.clone(), copies, false),
    ] {
        let bytes = [publish(1, b"a", &first, b"1"), publish(1, b"a", &second, b"2")].concat();
        let runs = told(&mut parser(), &bytes).len();
        assert_eq!(runs, if is_one { 1 } else { 2 }, "{first:?} {second:?}");
    }
    let bytes = [publish(1, b"a", PLAIN, b"1"), publish(1, b"b", PLAIN, b"2"), publish(2, b"b", PLAIN, b"3")].concat();
    assert_eq!(told(&mut parser(), &bytes), ["run 1 a [1]", "run 1 b [2]", "run 2 b [3]"]);
}

#[test]
fn names_that_only_look_alike_when_joined_are_told_apart() {
    let named = |exchange: &[u8], key: &[u8]| {
        let names = [&[exchange.len() as u8], exchange, &[key.len() as u8], key, &[0]].concat();
        let method = frame(FRAME_METHOD, 1, &[&[0, 60, 0, 40, 0, 0][..], &names].concat());
        [method, header(1, 0, PLAIN)].concat()
    };
    let bytes = [named(b"ab", b"c"), named(b"a", b"bc"), named(b"a", b"bc")].concat();
    assert_eq!(told(&mut parser(), &bytes), ["run 1 c []", "run 1 bc [ ]"]);
}

#[test]
fn a_long_run_is_cut_when_it_is_full() {
    let bytes = publish(1, b"a", PLAIN, &[b'x'; 8000]).repeat(200);
    let runs = told(&mut parser(), &bytes);
    assert_eq!(runs.len(), 2);
}

#[test]
fn the_order_of_kinds_is_kept_and_acks_are_joined() {
    let bytes = [
        ack(1, 4, 0),
        ack(1, 5, 0),
        ack(1, 7, 0),
        ack(2, 8, 0),
        publish(1, b"a", PLAIN, b"1"),
        ack(2, 9, 0),
        ack(2, 9, 1),
        frame(FRAME_HEARTBEAT, 0, b""),
        publish(1, b"a", PLAIN, b"2"),
        method(3, 20, 10),
        ack(1, u64::MAX, 0),
        ack(1, 0, 0),
    ]
    .concat();
    let expected = [
        "ack 1 4-5",
        "ack 1 7-7",
        "ack 2 8-8",
        "run 1 a [1]",
        "ack 2 9-9",
        "ack 2 to 9",
        "heartbeat",
        "run 1 a [2]",
        "method 3 20.10",
        "ack 1 18446744073709551615-18446744073709551615",
        "ack 1 0-0",
    ];
    assert_eq!(told(&mut parser(), &bytes), expected);
}

#[test]
fn frames_of_several_channels_may_be_interleaved() {
    let bytes = [
        publish_method(1, b"a"),
        publish_method(2, b"b"),
        header(2, 6, PLAIN),
        header(1, 2, PLAIN),
        frame(FRAME_BODY, 2, b"two"),
        frame(FRAME_BODY, 1, b"1!"),
        frame(FRAME_HEARTBEAT, 0, b""),
        frame(FRAME_BODY, 2, b"six"),
    ]
    .concat();
    let mut parser = parser();
    assert_eq!(told(&mut parser, &bytes), ["run 1 a [1!]", "heartbeat", "run 2 b [twosix]"]);
    assert_eq!(parser.partial_bytes(), 0);
}

#[test]
fn a_stream_may_arrive_in_any_pieces() {
    let body = vec![b'x'; 9000];
    let large = [
        publish_method(1, b"a"),
        header(1, 9000, PLAIN),
        frame(FRAME_BODY, 1, &body[..8000]),
        frame(FRAME_BODY, 1, &body[8000..]),
    ];
    let bytes =
        [publish(1, b"a", PLAIN, b"1"), ack(1, 1, 0), large.concat(), publish(2, b"b", PLAIN, b""), method(1, 20, 40)]
            .concat();
    let whole = told(&mut parser(), &bytes);
    for size in [1, 2, 7, 100, 8192] {
        let (mut parser, mut events, mut start) = (parser(), Vec::new(), 0);
        let mut runs = Vec::new();
        for end in (0..bytes.len()).step_by(size).chain([bytes.len()]) {
            let (consumed, found) = parser.parse(&bytes, start, end, &mut runs).unwrap();
            events.extend(found.iter().map(|event| tell(event, &runs)));
            start = consumed;
        }
        assert_eq!((&events, start), (&whole, bytes.len()), "pieces of {size}");
    }
}

#[test]
fn violations_have_the_codes_of_the_protocol_and_end_the_connection() {
    let mut wrong_end = method(1, 20, 10);
    *wrong_end.last_mut().unwrap() = 0;
    let too_much = [publish_method(1, b"a"), header(1, 3, PLAIN), frame(FRAME_BODY, 1, b"four")].concat();
    let wrong_class = frame(FRAME_HEADER, 1, &[0, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
    let weight = frame(FRAME_HEADER, 1, &[0, 60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
    let begun = |next: Vec<u8>| [publish_method(1, b"a"), next].concat();
    let cases = [
        (wrong_end, "error 1 501 0.0"),
        (frame(0, 1, b""), "error 1 501 0.0"),
        (frame(9, 1, b""), "error 1 501 0.0"),
        (frame(FRAME_METHOD, 1, &[0; 8193]), "error 1 501 0.0"),
        (frame(FRAME_HEARTBEAT, 1, b""), "error 1 505 0.0"),
        (frame(FRAME_HEARTBEAT, 0, b"x"), "error 0 501 0.0"),
        (frame(FRAME_METHOD, 1, b"\0\x3c"), "error 1 502 0.0"),
        (too_much, "error 1 501 60.40"),
        (begun(header(1, 1 << 63, PLAIN)), "error 1 501 60.40"),
        (begun(header(1, 600 << 20, PLAIN)), "error 1 501 60.40"),
        (begun([header(1, 3, PLAIN), frame(FRAME_BODY, 1, b"")].concat()), "error 1 501 60.40"),
        (header(1, 3, PLAIN), "error 1 505 60.40"),
        (header(0, 3, PLAIN), "error 0 505 60.40"),
        (frame(FRAME_BODY, 1, b"x"), "error 1 505 60.40"),
        (begun(frame(FRAME_BODY, 1, b"x")), "error 1 505 60.40"),
        (begun([header(1, 3, PLAIN), header(1, 3, PLAIN)].concat()), "error 1 505 60.40"),
        (begun(method(1, 20, 40)), "error 1 505 20.40"),
        (begun(publish_method(1, b"a")), "error 1 505 60.40"),
        (begun(wrong_class), "error 1 505 60.40"),
        (begun(weight), "error 1 505 60.40"),
        (begun(frame(FRAME_HEADER, 1, &[0, 60, 0, 0])), "error 1 502 60.40"),
        (begun(header(1, 3, &[0, 1])), "error 1 502 60.40"),
        (begun(header(1, 0, &[0x80, 0, 9])), "error 1 502 60.40"),
        (publish(1, b"\xff", PLAIN, b"x"), "error 1 502 60.40"),
        (frame(FRAME_METHOD, 1, &[0, 60, 0, 40, 0, 0, 0, 0, 4]), "error 1 502 60.40"),
        (frame(FRAME_METHOD, 1, &[0, 60, 0, 40, 0, 0, 0, 9, 4]), "error 1 502 60.40"),
        (frame(FRAME_METHOD, 1, &[0, 60, 0, 80, 0]), "error 1 502 60.80"),
        (publish(0, b"a", PLAIN, b"x"), "error 0 503 60.40"),
        (ack(0, 1, 0), "error 0 503 60.80"),
    ];
    for (bytes, expected) in cases {
        let mut parser = parser();
        let before = publish(5, b"before", PLAIN, b"1");
        let events = told(&mut parser, &[before, bytes].concat());
        assert_eq!(events, ["run 5 before [1]", expected]);
        let behind =
            [publish(2, b"b", PLAIN, b"2"), ack(2, 1, 0), method(2, 20, 40), frame(FRAME_BODY, 9, b"x")].concat();
        assert_eq!(told(&mut parser, &behind), Vec::<String>::new());
        assert_eq!(parser.partial_bytes(), 0);
    }
}

#[test]
fn a_size_out_of_bounds_is_refused_before_its_bytes_come() {
    assert_eq!(told(&mut parser(), &[1, 0, 1, 0, 0, 0x20, 1]), ["error 1 501 0.0"]);
    assert_eq!(told(&mut parser(), b"HTTP/1.1"), ["error 21588 501 0.0"]);
}

#[test]
fn a_payload_of_exactly_the_limit_is_let_through() {
    let bytes = [publish_method(1, b"a"), header(1, 8192, PLAIN), frame(FRAME_BODY, 1, &[b'x'; 8192])].concat();
    assert_eq!(told(&mut parser(), &bytes), ["run 1 a [xxxxxxxx]"]);
}

#[test]
fn after_a_violation_the_closing_of_the_connection_is_still_heard() {
    let mut parser = parser();
    assert_eq!(told(&mut parser, &frame(FRAME_BODY, 1, b"x")), ["error 1 505 60.40"]);
    assert_eq!(told(&mut parser, &[publish(1, b"a", PLAIN, b"1"), method(0, 10, 51)].concat()), ["method 0 10.51"]);
    assert_eq!(told(&mut parser, &[0xff; 20]), Vec::<String>::new());
    assert_eq!(told(&mut parser, &method(0, 10, 51)), Vec::<String>::new());
}

#[test]
fn a_message_over_the_limit_is_refused_once_it_has_passed() {
    let mut parser = Parser::new(8192, 1000);
    let parts = [publish_method(1, b"a"), header(1, 9000, PLAIN), frame(FRAME_BODY, 1, &[7; 8000])].concat();
    assert_eq!(told(&mut parser, &parts), Vec::<String>::new());
    assert!(parser.partial_bytes() < 1000);
    let rest = [frame(FRAME_BODY, 1, &[7; 1000]), publish(1, b"a", PLAIN, b"next")].concat();
    assert_eq!(told(&mut parser, &rest), ["error 1 406 60.40", "run 1 a [next]"]);
    let just = publish(1, b"a", PLAIN, &[b'x'; 1000]);
    assert_eq!(told(&mut parser, &just), ["run 1 a [xxxxxxxx]"]);
    let over = publish(1, b"a", PLAIN, &[b'x'; 1001]);
    assert_eq!(told(&mut parser, &over), ["error 1 406 60.40"]);
}

#[test]
fn a_closing_channel_may_leave_its_content_unfinished() {
    let mut parser = parser();
    let bytes = [
        publish_method(1, b"a"),
        header(1, 100, PLAIN),
        frame(FRAME_BODY, 1, b"some"),
        method(1, 20, 41),
        method(1, 20, 10),
    ]
    .concat();
    assert_eq!(told(&mut parser, &bytes), ["method 1 20.41", "method 1 20.10"]);
    assert_eq!(parser.partial_bytes(), 0);
}

#[test]
fn unfinished_messages_of_all_channels_share_one_limit() {
    let mut parser = Parser::new(8192, 1 << 20);
    parser.partial_bytes_max = 100_000;
    let mut runs = Vec::new();
    for channel in 1..=u16::MAX {
        let bytes =
            [publish_method(channel, b"a"), header(channel, 1 << 20, PLAIN), frame(FRAME_BODY, channel, &[7; 100])]
                .concat();
        let (_, events) = parser.parse(&bytes, 0, bytes.len(), &mut runs).unwrap();
        if let [Event::Error(error)] = &events[..] {
            assert_eq!((error.code, parser.partial_bytes()), (506, 0));
            return;
        }
        assert!(events.is_empty() && parser.partial_bytes() <= 100_000);
    }
    panic!("no limit");
}
