//! Tests of space in the packet buffer.

use super::*;
use crate::config::CELL;

impl Share {
    /// An empty share with `limit` cells, less for colours if configured.
    fn new(limit: u32, colors: Option<ColorLimits>) -> Share {
        let reserve = Reserve::default();
        Share::with_rule(ShareRule { limit, colors, alpha: None, floor: 0, reserve, class: None })
    }

    /// The same with a dynamic threshold: the queue holds at most `alpha` millionths of what its
    /// pool has free, and its guaranteed cells.
    fn dynamic(self, alpha: Option<u32>) -> Share {
        Share { rule: ShareRule { alpha, ..self.rule }, ..self }
    }

    /// The same with cells of its own, in a pool.
    fn with_reserve(self, reserve: Reserve) -> Share {
        Share { rule: ShareRule { reserve, ..self.rule }, ..self }
    }
}

#[test]
fn a_packet_takes_whole_cells() {
    assert_eq!(
        [1, 80, 81, 1518].map(|length| Buffer::new(1, CELL).cells_of(length)),
        [1, 1, 2, 19]
    );
}

#[test]
fn the_last_cell_of_the_limit_is_usable_and_the_next_is_not() {
    let (mut buffer, mut share) = (Buffer::new(100, CELL), Share::new(10, None));
    assert!(share.admit(&mut buffer, 9, 0));
    assert!(!share.admit(&mut buffer, 2, 0));
    assert!(share.admit(&mut buffer, 1, 0));
    assert!(!share.admit(&mut buffer, 1, 0));
    assert_eq!((share.usage().cells, buffer.usage().cells), (10, 10));
}

#[test]
fn a_full_buffer_refuses_a_queue_that_has_room() {
    let mut buffer = Buffer::new(12, CELL);
    let (mut a, mut b) = (Share::new(10, None), Share::new(10, None));
    assert!(a.admit(&mut buffer, 10, 0));
    assert!(!b.admit(&mut buffer, 3, 0));
    a.release(&mut buffer, 10);
    assert!(b.admit(&mut buffer, 3, 0));
    assert_eq!(buffer.usage(), Usage { cells: 3, peak: 10 });
}

#[test]
fn saturated_queues_settle_at_alpha_b_over_one_plus_n_alpha() {
    // Choudhury and Hahne, equation 3; cells of one packet each.
    for (queues, alpha, total) in
        [(1, 1_000_000, 6_000), (4, 1_000_000, 6_000), (7, 500_000, 9_000)]
    {
        let mut buffer = Buffer::new(total, CELL);
        let share = Share::new(u32::MAX, None).dynamic(Some(alpha));
        let mut shares = vec![share; queues];
        for _ in 0..total {
            shares.iter_mut().for_each(|share| {
                share.admit(&mut buffer, 1, 0);
            });
        }
        let alpha = f64::from(alpha) / 1e6;
        let settled = alpha * f64::from(total) / (1.0 + queues as f64 * alpha);
        for share in &shares {
            let cells = f64::from(share.usage().cells);
            assert!((cells - settled).abs() <= 1.0, "{queues} {alpha}: {cells} {settled}");
        }
        // A queue that becomes active finds alpha times the rest.
        let mut late = share;
        let free = buffer.total() - buffer.usage().cells;
        while late.admit(&mut buffer, 1, 0) {}
        let found = alpha * f64::from(free) / (1.0 + alpha);
        assert!((f64::from(late.usage().cells) - found).abs() <= 1.0);
    }
}

#[test]
fn a_dynamic_threshold_falls_as_others_fill_and_is_never_above_the_fixed_limit() {
    let mut buffer = Buffer::new(100, CELL);
    let share = |limit| Share::new(limit, None).dynamic(Some(1_000_000));
    let (mut a, mut b, mut small) = (share(100), share(100), share(5));
    assert!(a.admit(&mut buffer, 50, 0) && !a.admit(&mut buffer, 1, 0));
    assert!(b.admit(&mut buffer, 25, 0) && !b.admit(&mut buffer, 1, 0));
    assert!(small.admit(&mut buffer, 5, 0) && !small.admit(&mut buffer, 1, 0));
    assert!(!a.admit_beyond(&mut buffer, 1, 0));
    a.release(&mut buffer, 50);
    assert!(b.admit(&mut buffer, 25, 0));
}

#[test]
fn saturated_queues_of_each_pool_settle_by_that_pool_alone() {
    let mut buffer = Buffer::new(10_000, CELL).with_pools(&[6_000, 3_000]);
    let share = |pool, alpha, guaranteed, headroom| {
        let reserve = Reserve { pool, guaranteed, headroom };
        Share::new(u32::MAX, None).dynamic(Some(alpha)).with_reserve(reserve)
    };
    let mut shares = vec![
        share(0, 1_000_000, 0, 0),
        share(0, 1_000_000, 0, 0),
        share(0, 1_000_000, 100, 0),
        share(1, 8_000_000, 50, 200),
        share(1, 8_000_000, 50, 200),
    ];
    // Two cells come for each that goes.
    for _ in 0..10_000 {
        for share in &mut shares {
            share.admit(&mut buffer, 1, 0);
            share.admit(&mut buffer, 1, 0);
            share.release(&mut buffer, share.usage().cells.min(1));
        }
    }
    // alpha B / (1 + n alpha): 6,000 / 4, and 8 x 3,000 / 17 cells; the queue's own on top. A cell
    // moves a threshold by alpha.
    let settled = [1_500, 1_500, 1_600, 1_411 + 250, 1_411 + 250];
    for (share, settled) in shares.iter().zip(settled) {
        assert!(share.usage().cells.abs_diff(settled) <= 8, "{share:?} {settled}");
    }
    for share in &mut shares {
        share.release(&mut buffer, share.usage().cells);
    }
    assert_eq!(buffer.usage().cells, 0);
    assert!(buffer.pools.iter().all(|pool| pool.usage.cells == 0));
}

/// Shares of active buffer management with packets in them all the time: two cells come for each that goes.
fn saturate(buffer: &mut Buffer, shares: &mut [Share]) {
    for _ in 0..3 * buffer.total() {
        for share in &mut *shares {
            share.admit(buffer, 1, 0);
            share.admit(buffer, 1, 0);
            share.release(buffer, share.usage().cells.min(1));
        }
    }
}

fn active(class: Class, alpha: u32) -> Share {
    let share = Share::new(u32::MAX, None).dynamic(Some(alpha));
    Share { rule: ShareRule { class: Some(class), ..share.rule }, ..share }
}

#[test]
fn congested_queues_of_active_buffer_management_settle_at_alpha_b_over_n_times_one_plus_alpha() {
    for (queues, alpha) in [(1, 1_000_000), (4, 1_000_000), (8, 500_000), (3, 8_000_000)] {
        let mut buffer = Buffer::new(20_000, CELL);
        let mut shares = vec![active(0, alpha); queues];
        saturate(&mut buffer, &mut shares);
        let alpha = f64::from(alpha) / 1e6;
        let all = alpha * 20_000.0 / (1.0 + alpha);
        for share in &shares {
            let cells = f64::from(share.usage().cells);
            // A cell moves a threshold by alpha.
            assert!(
                (cells - all / queues as f64).abs() <= 1.0 + alpha,
                "{queues} {alpha}: {cells}"
            );
        }
        // Dynamic thresholds would leave B / (1 + n alpha) free.
        let free = f64::from(buffer.free());
        assert!((free - 20_000.0 / (1.0 + alpha)).abs() <= (1.0 + alpha) * queues as f64, "{free}");
        shares.iter_mut().for_each(|share| share.release(&mut buffer, share.usage().cells));
        assert_eq!(buffer.congestion.part(0, 0, 100), 100, "none is congested");
    }
}

#[test]
fn queues_of_another_number_are_not_counted_and_slow_ones_get_their_part() {
    let mut buffer = Buffer::new(20_000, CELL);
    let mut shares = vec![active(0, 500_000), active(1, 500_000), active(1, 500_000)];
    shares[0].set_drain(250_000);
    saturate(&mut buffer, &mut shares);
    // T of the three: 1/8, 1/4 and 1/4 of what is free, which is B / (1 + 5/8).
    let free = 20_000.0 / 1.625;
    for (share, part) in shares.iter().zip([0.125, 0.25, 0.25]) {
        let cells = f64::from(share.usage().cells);
        assert!((cells - part * free).abs() <= 2.0, "{cells} {}", part * free);
    }
}

#[test]
fn a_queue_that_ends_active_buffer_management_is_no_longer_counted() {
    let mut buffer = Buffer::new(20_000, CELL);
    let mut share = active(3, 1_000_000);
    assert!(share.admit(&mut buffer, 700, 0));
    assert_eq!(buffer.congestion.part(0, 3, 100), 100);
    let mut other = active(3, 1_000_000);
    assert!(other.admit(&mut buffer, 700, 0));
    assert_eq!(buffer.congestion.part(0, 3, 100), 50);
    share.set_rule(&mut buffer, ShareRule { class: None, ..share.rule() });
    assert_eq!(buffer.congestion.part(0, 3, 100), 100);
}

#[test]
fn a_guaranteed_cell_is_there_when_the_pool_is_full_and_headroom_is_free_again_first() {
    let mut buffer = Buffer::new(20, CELL).with_pools(&[10]);
    let own = Reserve { guaranteed: 3, headroom: 4, ..Reserve::default() };
    let mut greedy = Share::new(100, None);
    let mut small = Share::new(5, None).with_reserve(own);
    assert!(greedy.admit(&mut buffer, 10, 0) && !greedy.admit(&mut buffer, 1, 0));
    assert!(small.admit(&mut buffer, 3, 0));
    // The fourth finds no room in the pool and goes into the headroom.
    assert!(small.admit(&mut buffer, 2, 0) && small.admit(&mut buffer, 2, 0));
    assert!(!small.admit(&mut buffer, 1, 0));
    assert_eq!(small.usage().cells, 7);
    small.release(&mut buffer, 4);
    assert_eq!((small.regular(), small.in_headroom), (3, 0));
    greedy.release(&mut buffer, 2);
    assert!(small.admit(&mut buffer, 2, 0) && small.in_headroom == 0);
}

#[test]
fn red_packets_are_refused_earlier_than_green_ones() {
    let colors = Some(ColorLimits { yellow: 6, red: 4 });
    let (mut buffer, mut share) = (Buffer::new(100, CELL), Share::new(16, colors));
    assert!(share.admit(&mut buffer, 8, 3));
    assert!(!share.admit(&mut buffer, 1, 3));
    assert!(share.admit(&mut buffer, 4, 1));
    assert!(!share.admit(&mut buffer, 1, 2));
    assert!(share.admit(&mut buffer, 4, 0));
}
