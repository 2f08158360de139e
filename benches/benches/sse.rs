//! The time that server-sent events take, with the floor beside it.

use std::hint::black_box;

use agent_core::SseDecoder;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mainspring_benches::sse::{self, Check, Floor};

fn frames(criterion: &mut Criterion) {
    let chunks = sse::openai_stream();
    let mut group = criterion.benchmark_group("sse-frame-300");
    group.throughput(Throughput::Elements(512));
    group.bench_function("decoder", |bencher| {
        bencher.iter(|| {
            let mut decoder = SseDecoder::new();
            let mut bytes = 0;
            for chunk in &chunks {
                decoder.push(chunk.clone());
                bytes += sse::drain(&mut decoder);
            }
            bytes
        });
    });
    for check in [Check::Nothing, Check::Utf8] {
        group.bench_function(BenchmarkId::new("floor", format!("{check:?}")), |bencher| {
            bencher.iter(|| {
                let mut floor = Floor::new(check);
                chunks.iter().for_each(|chunk| floor.push(chunk));
                floor.bytes
            });
        });
    }
    group.finish();
}

fn one_event(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sse-one-event");
    group.sample_size(30);
    for megabytes in [4, 8] {
        group.throughput(Throughput::Bytes(megabytes << 20));
        group.bench_function(BenchmarkId::new("decoder", megabytes), |bencher| {
            bencher.iter(|| sse::one_event(black_box(megabytes)));
        });
        for check in [Check::Nothing, Check::Utf8] {
            let id = BenchmarkId::new(format!("floor-{check:?}"), megabytes);
            group.bench_function(id, |bencher| {
                bencher.iter(|| sse::floor_one_event(black_box(megabytes), check));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, frames, one_event);
criterion_main!(benches);
